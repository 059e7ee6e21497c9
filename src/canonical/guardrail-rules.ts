/** The guardrail rules that matched, by names that reveal nothing of the matched text. */
import type { Effect } from './effect.ts'

/** Returns the placeholders of content filters, or the moderation endpoints. */
export const rulesOf = ({ type, name, data }: Effect): readonly string[] => {
  if (type !== 'guardrail') return []
  if (name === 'regex_pi_detection') return ['[PROMPT_INJECTION]']
  const named = name === 'moderation' ? data['engines'] : data['patterns']
  return Array.isArray(named) ? named.map(String) : []
}
