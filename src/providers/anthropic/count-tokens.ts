/** Asks Anthropic for its own count of a request's input tokens, with the same request without the fields that only an answer needs. */
import { passesAsWritten } from '../../canonical/call.ts'
import { JsonBody } from '../../lib/json-body.ts'
import { isObject, type JsonChanges } from '../../lib/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { GatewayError } from '../../errors.ts'
import { encoded } from '../encoded.ts'
import { postJson } from '../json-post.ts'
import type { Attempt, ProviderContext } from '../provider.ts'
import type { UpstreamResponse } from '../upstream.ts'
import { messagesUrl, ownHeaders } from './anthropic.ts'
import { encodeAnthropicRequest } from './encode.ts'
import { anthropicFailure } from './errors.ts'
import { relayChanges } from './relay-request.ts'

/** The fields that the counting endpoint takes; it refuses all others. */
const COUNTED: ReadonlySet<string> = new Set([
  'messages',
  'model',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'cache_control',
])

const BODY_MAX = 64 * 1024

/**
 * Null where the provider, such as a local server, speaks the dialect and has no such path: it answers 404, or 200 without a count.
 * Throws a GatewayError for every other failure.
 */
export const countAnthropicTokens = async (attempt: Attempt, context: ProviderContext): Promise<number | null> => {
  const response = await askForCount(attempt, context)
  return response === null ? null : readCount(await response.text(BODY_MAX))
}

const askForCount = async (attempt: Attempt, context: ProviderContext): Promise<UpstreamResponse | null> => {
  const request = {
    url: `${messagesUrl(attempt.target.baseUrl)}/count_tokens`,
    headers: ownHeaders(attempt),
    body: await encoded(countedRequest(attempt), attempt, context),
    stream: false,
    failure: anthropicFailure,
  }
  try {
    return await postJson(request, attempt, context)
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.type === 'not_found') return null
    throw thrown
  }
}

function* countedRequest(attempt: Attempt): Steps<string | Uint8Array<ArrayBuffer>> {
  const { body } = attempt.call
  if (passesAsWritten(attempt.call, 'messages')) {
    const changes = yield* relayChanges(attempt)
    yield
    return yield* body.writingWire({ ...changes, ...withoutUncounted([...body.keys, ...Object.keys(changes)]) })
  }
  const request = yield* encodeAnthropicRequest(attempt)
  yield
  const whole = JsonBody.ofParsed(request)
  yield
  return whole.textWith(withoutUncounted(whole.keys))
}

const withoutUncounted = (keys: readonly string[]): JsonChanges =>
  Object.fromEntries(keys.filter((key) => !COUNTED.has(key)).map((key) => [key, null]))

const readCount = (text: string): number | null => {
  try {
    const body: unknown = JSON.parse(text)
    return isObject(body) && typeof body['input_tokens'] === 'number' ? body['input_tokens'] : null
  } catch {
    return null // no JSON, and so no count
  }
}
