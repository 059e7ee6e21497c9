/** The rules of a guardrail that found something, by names that hold nothing of what was found. */
import type { PipelineStage } from './pipeline.ts'

/** Placeholders of content filters, and moderation endpoints. */
export const rulesOf = ({ type, name, data }: PipelineStage): readonly string[] => {
  if (type !== 'guardrail') return []
  if (name === 'regex_pi_detection') return ['[PROMPT_INJECTION]']
  const named = name === 'moderation' ? data['engines'] : data['patterns']
  return Array.isArray(named) ? named.map(String) : []
}
