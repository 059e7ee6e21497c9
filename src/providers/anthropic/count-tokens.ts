/** Asks Anthropic for its count of a request's input tokens. Source: docs.claude.com, "Count tokens in a Message". */
import type { Steps } from '../../lib/steps.ts'
import { askForCount, countedText } from '../count-tokens.ts'
import { encoded } from '../transport/encoded.ts'
import type { Attempt, TokenCounter } from '../provider.ts'
import { messagesUrl, ownHeaders } from './anthropic.ts'
import { anthropicWire } from './encode.ts'
import { anthropicFailure } from './errors.ts'
import { wordSet } from '../../lib/text/word-set.ts'

const COUNTED: ReadonlySet<string> = wordSet('messages model system tools tool_choice thinking output_config cache_control')

export const countAnthropicTokens: TokenCounter = async (attempt, context) =>
  await askForCount(
    {
      url: `${messagesUrl(attempt.target.baseUrl)}/count_tokens`,
      headers: ownHeaders(attempt),
      body: await encoded(countedRequest(attempt), attempt, context),
      member: 'input_tokens',
      failure: anthropicFailure,
      // Local servers that speak the dialect have no such path.
      doesNotCount: (status) => status === 404,
    },
    attempt,
    context,
  )

function* countedRequest(attempt: Attempt): Steps<string> {
  return yield* countedText(yield* anthropicWire(attempt), COUNTED)
}
