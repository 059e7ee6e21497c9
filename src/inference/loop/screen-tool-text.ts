/**
 * Sends texts between a model and a tool through the caller's guardrails. Both directions count as input, since another party reads the
 * text.
 */
import type { ServerOutcome } from '../../canonical/server-tools.ts'
import { isGuardrailBlock } from '../../guardrails/detections.ts'
import { screenBody, type ScreenLimits } from '../../guardrails/screen-request.ts'
import { GatewayError } from '../../errors.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { Screened } from '../request.ts'

/** Null if a guardrail blocks the text or cannot decide. Findings are reported among the effects on the request. */
export const screenToolText = (
  { guardrails, effects }: Pick<Screened, 'guardrails' | 'effects'>,
  limits: ScreenLimits,
): ((text: string) => Promise<string | null>) => {
  const input = guardrails?.input ?? null
  if (input === null) return (text) => Promise.resolve(text)
  return async (text) => {
    const body = JsonBody.read(JSON.stringify({ messages: [{ role: 'tool', content: text }] }))
    try {
      const screened = await screenBody(body, input, effects, limits)
      if (screened === body) return text
      const [message] = screened.value('messages') as { content: string }[]
      return message?.content ?? null
    } catch (thrown) {
      if (thrown instanceof GatewayError && (isGuardrailBlock(thrown) || thrown.type === 'provider_overloaded')) return null
      throw thrown
    }
  }
}

/** Keeps only sources that the screened text still names: an address or a title that was removed from the text is removed here too. */
export const screenedSources = (sources: ServerOutcome['sources'], text: string): ServerOutcome['sources'] => {
  const reported = (part: string): boolean => text.includes(JSON.stringify(part).slice(1, -1))
  return sources.flatMap(({ url, title }) => (reported(url) ? [{ url, title: title !== null && reported(title) ? title : null }] : []))
}
