/**
 * Translates a preset's request for log probabilities. Chat uses the flag `logprobs`, which `top_logprobs` requires; Responses
 * uses an item of the list `include`, or `top_logprobs` alone.
 */
import type { JsonValue } from '../lib/json/json.ts'
import { LOGPROBS_INCLUDED } from '../request-fields/schemas/output.ts'
import type { Translation } from './translation.ts'

interface Chances {
  /** The remaining fields, which are translated one by one. */
  readonly others: Readonly<Record<string, JsonValue>>
  /** The members that ask for the same in the other dialect. */
  readonly asked: Readonly<Record<string, JsonValue>>
}

export const translateChances = (fields: Readonly<Record<string, JsonValue>>, { from, to, lost }: Translation): Chances => {
  if (from === 'chat' && to === 'responses') {
    const { logprobs, ...others } = fields
    if (logprobs !== false) return { others, asked: logprobs === true ? { include: [LOGPROBS_INCLUDED] } : {} }
    const { top_logprobs: number, ...rest } = others
    if (number !== undefined) lost('top_logprobs')
    return { others: rest, asked: {} }
  }
  if (from !== 'responses' || to !== 'chat') return { others: fields, asked: {} }
  const { include } = fields
  const isIncluded = Array.isArray(include) && include.includes(LOGPROBS_INCLUDED)
  const others = isIncluded ? withoutItem(fields, include) : fields
  return { others, asked: isIncluded || fields['top_logprobs'] !== undefined ? { logprobs: true } : {} }
}

const withoutItem = (fields: Readonly<Record<string, JsonValue>>, include: readonly JsonValue[]): Readonly<Record<string, JsonValue>> => {
  const { include: _, ...others } = fields
  const kept = include.filter((item) => item !== LOGPROBS_INCLUDED)
  return kept.length === 0 ? others : { ...others, include: kept }
}
