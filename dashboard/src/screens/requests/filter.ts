/**
 * The filter language of the list of requests: `status:error model:gpt cost>0.01`. Each word becomes a parameter of the API; a word that
 * does not is reported, never dropped silently.
 */
import type { Query } from '../../api/path.ts'

export interface ReadFilter {
  readonly query: Query
  /** Words that are not valid filters, as they were typed, with the reason. */
  readonly faults: readonly { readonly word: string; readonly reason: string }[]
}

const YES_NO = ['yes', 'no']
const TRUTH: Readonly<Record<string, string>> = { yes: 'true', no: 'false' }

/** By the name that people type: the parameter, and its allowed values if they are fixed. */
export const FILTER_KEYS: Readonly<Record<string, { readonly parameter: string; readonly values?: readonly string[] }>> = {
  status: { parameter: 'status', values: ['ok', 'error', 'cancelled'] },
  error: { parameter: 'error_type' },
  model: { parameter: 'model' },
  provider: { parameter: 'provider' },
  preset: { parameter: 'preset' },
  version: { parameter: 'preset_version' },
  key: { parameter: 'key' },
  user: { parameter: 'user_id' },
  session: { parameter: 'session_id' },
  request: { parameter: 'request_id' },
  interface: { parameter: 'interface', values: ['chat', 'responses', 'messages', 'embeddings'] },
  content: { parameter: 'has_content', values: YES_NO },
  has_preset: { parameter: 'has_preset', values: YES_NO },
  guardrail: { parameter: 'guardrail' },
}

const LEAST: Readonly<Record<string, string>> = { cost: 'min_cost_usd', latency: 'min_latency_ms' }

/** The filter key for a parameter of the API. */
export const wordOf = (parameter: string): string =>
  Object.entries(FILTER_KEYS).find(([, field]) => field.parameter === parameter)?.[0] ??
  Object.entries(LEAST).find(([, least]) => least === parameter)?.[0] ??
  parameter

/** `key:value`, with quotes around a value that holds spaces. */
const WORD = /(-?\w+)([:>])("(?:[^"\\]|\\[^])*"|\S*)|\S+/g

export const readFilter = (text: string): ReadFilter => {
  const query: Record<string, string> = {}
  const faults: { word: string; reason: string }[] = []
  for (const [word, name = '', sign, quoted = ''] of text.matchAll(WORD)) {
    const fault =
      sign === ':' ? readPair(query, name, unquoted(quoted)) : sign === '>' ? readLeast(query, name, quoted) : readBare(query, word)
    if (fault !== null) faults.push({ word, reason: fault })
  }
  return { query, faults }
}

const unquoted = (text: string): string =>
  text.startsWith('"') ? text.slice(1, text.endsWith('"') ? -1 : undefined).replace(/\\([^])/g, '$1') : text

/** Returns null, or what is wrong. */
const readPair = (query: Record<string, string>, name: string, value: string): string | null => {
  if (name.startsWith('-')) return 'a filter cannot be turned round'
  const known = Object.hasOwn(FILTER_KEYS, name) ? FILTER_KEYS[name] : undefined
  if (known === undefined) return `there is no filter ${name}`
  if (value === '') return 'its value is missing'
  if (known.values !== undefined && !known.values.includes(value)) return `use ${known.values.join(', ')}`
  if (known.parameter in query) return `${name} is there twice`
  const version = name === 'preset' ? /^(.+)@(\d+)$/.exec(value) : null
  if (version !== null) query['preset_version'] = version[2] ?? ''
  query[known.parameter] = version?.[1] ?? (known.values === YES_NO ? (TRUTH[value] ?? '') : value)
  return null
}

const readLeast = (query: Record<string, string>, name: string, value: string): string | null => {
  const parameter = Object.hasOwn(LEAST, name) ? LEAST[name] : undefined
  if (parameter === undefined) return `only ${Object.keys(LEAST).join(' and ')} are compared`
  const number = /^\$?(\d+(?:\.\d+)?)(ms|s)?$/.exec(value)
  if (number === null || (name === 'cost' && number[2] !== undefined))
    return name === 'cost' ? 'use dollars: cost>0.01' : 'use a time: latency>2s'
  query[parameter] = String(Number(number[1]) * (number[2] === 's' ? 1000 : 1))
  return null
}

/** An id is a filter without a key. */
const readBare = (query: Record<string, string>, word: string): string | null => {
  if (word.startsWith('req-')) query['request_id'] = word
  else return 'write key:value, such as model:gpt'
  return null
}

/** The filter text for these values, with which other screens link to requests. */
export const filterText = (filter: Readonly<Record<string, string | number | null | undefined>>): string =>
  Object.entries(filter)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => `${name}:${/[\s"]/.test(String(value)) ? `"${String(value).replace(/["\\]/g, '\\$&')}"` : value}`)
    .join(' ')

/** The filter text with these values in place of those that it has for the same keys. */
export const withValues = (text: string, values: Parameters<typeof filterText>[0]): string =>
  [...[...text.matchAll(WORD)].flatMap(([word, name = '']) => (Object.hasOwn(values, name) ? [] : [word])), filterText(values)].join(' ')
