/** Asks OpenAI for its count of a request's input tokens. Source: the API reference, "Get input token counts". */
import type { Steps } from '../../lib/steps.ts'
import { askForCount, countedText, isRefusal } from '../count-tokens.ts'
import { encoded } from '../transport/encoded.ts'
import type { Attempt, TokenCounter } from '../provider.ts'
import { responsesWire } from './encode.ts'
import { responsesFailure } from './errors.ts'
import { keyHeader, responsesUrl } from './openai-responses.ts'
import { wordSet } from '../../lib/text/word-set.ts'

const COUNTED: ReadonlySet<string> = wordSet('input instructions model parallel_tool_calls reasoning text tool_choice tools truncation')

export const countResponsesTokens: TokenCounter = async (attempt, context) =>
  await askForCount(
    {
      url: `${responsesUrl(attempt.target)}/input_tokens`,
      headers: keyHeader(attempt.target),
      body: await encoded(countedRequest(attempt), attempt, context),
      member: 'input_tokens',
      failure: responsesFailure,
      doesNotCount: isRefusal,
    },
    attempt,
    context,
  )

function* countedRequest(attempt: Attempt): Steps<string> {
  return yield* countedText(yield* responsesWire(attempt), COUNTED)
}
