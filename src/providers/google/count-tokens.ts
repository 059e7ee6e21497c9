/** Asks Google for its count of a request's input tokens. Source: the reference of the Gemini API, "Counting tokens". */
import type { Steps } from '../../lib/steps.ts'
import { askForCount, countedText, isRefusal } from '../count-tokens.ts'
import { encoded } from '../transport/encoded.ts'
import type { Attempt, TokenCounter } from '../provider.ts'
import { encodeGoogleRequest } from './encode.ts'
import { googleFailure } from './errors.ts'
import { keyHeader, modelUrl, resourceOf, withReadableMedia } from './google.ts'

const COUNTED: ReadonlySet<string> = new Set(['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'])

export const countGoogleTokens: TokenCounter = async (attempt, context) =>
  await askForCount(
    {
      url: `${modelUrl(attempt.target)}:countTokens`,
      headers: keyHeader(attempt.target),
      body: await encoded(countedRequest(await withReadableMedia(attempt, context)), attempt, context),
      member: 'totalTokens',
      failure: googleFailure,
      doesNotCount: isRefusal,
    },
    attempt,
    context,
  )

/** Only a whole request within the one that counts may have tools and a system instruction. */
function* countedRequest(attempt: Attempt): Steps<string> {
  const request = yield* countedText(yield* encodeGoogleRequest(attempt), COUNTED)
  yield
  return `{"generateContentRequest":{"model":${JSON.stringify(resourceOf(attempt.target))},${request.slice(1)}}`
}
