/** Decides which traces a destination gets: those of its keys that match its rules, and of these a share of the sessions. */
import { createHash } from 'node:crypto'

import type { FilterField, FilterRules } from '../contract/destination.ts'
import type { Regex } from '../lib/regex/finder.ts'
import { matches } from '../lib/regex/matches.ts'
import type { RequestTrace, TracedPart } from './request-trace.ts'

type Rule = FilterRules['groups'][number]['rules'][number]

export interface Filtering {
  readonly id: string
  readonly keyHashes: ReadonlySet<string> | null
  readonly rules: FilterRules | null
  /** The compiled patterns, by their source. */
  readonly patterns: ReadonlyMap<string, Regex>
  readonly rate: number
}

export const isSentTo = ({ id, keyHashes, rules, patterns, rate }: Filtering, trace: RequestTrace): boolean =>
  (keyHashes === null || keyHashes.has(trace.keyHash)) &&
  (rules === null || fits(rules, trace, patterns)) &&
  isSampled(`${id}${trace.sessionId ?? trace.generationId}`, rate)

/** The result is the same for the same text in every process, so that a session is sent whole or not at all. */
export const isSampled = (text: string, rate: number): boolean => {
  if (rate >= 1) return true
  const first = createHash('sha256').update(text).digest().readBigUInt64BE(0)
  // A double holds exactly 53 bits.
  return Number(first >> 11n) / 2 ** 53 < rate
}

/** Says whether the rules can only be decided with the question or the answer. */
export const needsContent = (rules: FilterRules | null): boolean =>
  rules !== null && rules.enabled && rules.groups.some((group) => group.rules.some(({ field }) => field === 'input' || field === 'output'))

const fits = ({ enabled, groups }: FilterRules, trace: RequestTrace, patterns: Filtering['patterns']): boolean =>
  !enabled ||
  groups.length === 0 ||
  groups.some(({ logic, rules }) =>
    logic === 'and' ? rules.every((rule) => holds(rule, trace, patterns)) : rules.some((rule) => holds(rule, trace, patterns)),
  )

const holds = ({ field, operator, value = '' }: Rule, trace: RequestTrace, patterns: Filtering['patterns']): boolean => {
  const reported = VALUES[field](trace)
  if (operator === 'exists' || operator === 'not_exists') return (reported !== null && reported !== '') === (operator === 'exists')
  if (reported === null) return operator === 'not_equals' || operator === 'not_contains'
  const text = String(reported)
  const wanted = String(value)
  switch (operator) {
    case 'equals':
      return isEqual(reported, value)
    case 'not_equals':
      return !isEqual(reported, value)
    case 'contains':
      return text.includes(wanted)
    case 'not_contains':
      return !text.includes(wanted)
    case 'starts_with':
      return text.startsWith(wanted)
    case 'ends_with':
      return text.endsWith(wanted)
    case 'regex': {
      const pattern = patterns.get(wanted)
      return pattern !== undefined && matches(pattern, text)
    }
    case 'gt':
      return Number(reported) > Number(value)
    case 'lt':
      return Number(reported) < Number(value)
    case 'gte':
      return Number(reported) >= Number(value)
    case 'lte':
      return Number(reported) <= Number(value)
  }
}

const isEqual = (reported: string | number, value: string | number): boolean =>
  typeof reported === 'number' ? reported === Number(value) : reported === String(value)

const VALUES: Readonly<Record<FilterField, (trace: RequestTrace) => string | number | null>> = {
  model: ({ model }) => model,
  provider: ({ provider }) => provider,
  session_id: ({ sessionId }) => sessionId,
  user_id: ({ user }) => user,
  api_key_name: ({ keyName }) => keyName,
  finish_reason: ({ finishReason }) => finishReason,
  input: ({ content }) =>
    content === null ? null : [...content.system, ...content.input.flatMap(({ parts }) => parts)].map(textOf).join('\n'),
  output: ({ content }) => (content === null ? null : content.output.map(textOf).join('\n')),
  total_cost: ({ costUsd }) => costUsd,
  total_tokens: ({ usage }) => usage.input + usage.output,
  prompt_tokens: ({ usage }) => usage.input,
  completion_tokens: ({ usage }) => usage.output,
}

const textOf = (part: TracedPart): string => {
  if (part.type === 'tool_call') return part.arguments
  return part.type === 'tool_call_response' ? part.response : part.content
}
