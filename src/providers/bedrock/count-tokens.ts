/** Asks Amazon Bedrock for its count of a request's input tokens. Source: the API reference of Bedrock Runtime, "CountTokens". */
import { withoutArea } from '../../canonical/inference-profile.ts'
import type { Steps } from '../../lib/steps.ts'
import { askForCount, countedText, isRefusal, JSON_HEADERS } from '../count-tokens.ts'
import { encoded } from '../transport/encoded.ts'
import type { Attempt, Target, TokenCounter } from '../provider.ts'
import { modelUrl, withLoadedBytes } from './bedrock.ts'
import { encodeConverseRequest } from './encode.ts'
import { converseFailure } from './errors.ts'
import { authorized } from './sign.ts'

const COUNTED: ReadonlySet<string> = new Set(['messages', 'system', 'toolConfig', 'additionalModelRequestFields'])

export const countConverseTokens: TokenCounter = async (attempt, context) => {
  const { target } = attempt
  const url = `${modelUrl(target, countedModel(target))}/count-tokens`
  const body = await encoded(countedRequest(await withLoadedBytes(attempt, context)), attempt, context)
  const headers = await authorized({ url, headers: JSON_HEADERS, body }, target.apiKey, context.clock.now())
  return await askForCount({ url, headers, body, member: 'inputTokens', failure, doesNotCount: isRefusal }, attempt, context)
}

/** Tokens are counted by the model itself, and not by a profile that spreads its requests over the regions of an area. */
const countedModel = ({ upstreamModel }: Target): string => withoutArea(upstreamModel)

function* countedRequest(attempt: Attempt): Steps<string> {
  const request = yield* countedText(yield* encodeConverseRequest(attempt), COUNTED)
  yield
  return `{"input":{"converse":${request}}}`
}

const failure = (status: number, body: string, target: Target, retryAfterSeconds?: number) =>
  converseFailure({ status, name: null, body, retryAfterSeconds }, target)
