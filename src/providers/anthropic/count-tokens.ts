/** Anthropic's own count of what a request would cost in input tokens: the same request without what only an answer needs. */
import { GatewayError } from '../../errors.ts'
import { JsonBody } from '../../lib/json-body.ts'
import { isObject } from '../../lib/json.ts'
import { retryAfterSeconds } from '../classify-failure.ts'
import type { Attempt, ProviderContext } from '../provider.ts'
import { messagesUrl, requestHeaders } from './anthropic.ts'
import { encodeAnthropicRequest } from './encode.ts'
import { anthropicFailure } from './errors.ts'

/** What the counting endpoint takes; it refuses anything else. */
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

/** Throws a GatewayError for every failure. */
export const countAnthropicTokens = async (attempt: Attempt, { upstream, clock }: ProviderContext): Promise<number> => {
  const { target, connection } = attempt
  const whole = JsonBody.ofParsed(encodeAnthropicRequest(attempt))
  const response = await upstream.post({
    url: `${messagesUrl(target.baseUrl)}/count_tokens`,
    headers: requestHeaders(attempt, 'application/json'),
    body: whole.textWith(Object.fromEntries(whole.keys.filter((key) => !COUNTED.has(key)).map((key) => [key, null]))),
    stream: false,
    connection,
  })
  if (response.status !== 200) {
    const seconds = retryAfterSeconds(response.headers.get('retry-after'), clock.now())
    throw anthropicFailure(response.status, await response.beginning(BODY_MAX), target, seconds)
  }
  const count = readCount(await response.text(BODY_MAX))
  if (count === null) {
    throw new GatewayError('provider_unavailable', `${target.providerName} answered without a count.`, {
      metadata: { provider_name: target.providerName },
    })
  }
  return count
}

const readCount = (text: string): number | null => {
  try {
    const body: unknown = JSON.parse(text)
    return isObject(body) && typeof body['input_tokens'] === 'number' ? body['input_tokens'] : null
  } catch {
    return null // the caller says so
  }
}
