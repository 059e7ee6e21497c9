/**
 * How much work a body asks for, as a provider may read it that takes every word for work literally: the largest of its
 * limits of output, all its numbers of answers multiplied, numbers written as text, names in any case, and settings that
 * stand in an object. It is what a hold must cover (docs/budgets.md).
 */
import { isExactInteger } from '../lib/exact-json.ts'
import type { JsonBody } from '../lib/json-body.ts'
import { isObject } from '../lib/json.ts'
import { CONVERSATION_FIELDS, ESCAPED_LETTER, plainName } from './conversation-media.ts'

export interface AskedWork {
  /** The largest limit of output tokens; null where there is none, Infinity where one is beyond reading. */
  readonly outputTokens: number | null
  /** A limit that is no limit, such as -1: as much as there is. */
  readonly unlimited: boolean
  /** The largest budget of thinking; 0 where there is none. */
  readonly thinkingTokens: number
  /** Answers to the one prompt, at least 1. */
  readonly answers: number
  /** Bytes of a predicted output: what of it is wrong is paid for as output. */
  readonly predictedBytes: number
  /** Searches that the provider may make. */
  readonly searches: number
  /** Input may be written to a cache, which may cost more than to read it. */
  readonly marksCache: boolean
  /** The name of a tier that may cost more than the ordinary one is in it. */
  readonly premiumTier: boolean
}

export const askedWork = (body: JsonBody): AskedWork => {
  const found: Found = { limits: [], unlimited: false, thinkingTokens: 0, answers: 1 }
  let searches = 0
  let predictedBytes = 0
  let premiumTier = false
  for (const key of body.keys) {
    const name = plainName(key)
    if (CONVERSATION_FIELDS.has(name)) continue
    const raw = body.rawSearchable(key) ?? ''
    if (SEARCH_FIELD.test(name) || ((name === 'tools' || name === 'plugins') && mayName(SEARCH, raw)))
      searches = Math.max(searches, SEARCHES, largestUse(body.get(key)))
    if (name === 'prediction') predictedBytes = raw.length
    if (TIER_FIELDS.has(name)) premiumTier ||= !isOrdinary(body.get(key))
    if (TEXT_FIELDS.has(name)) continue
    // A number, a text that may be one, or an object with settings in it. A plain word names no work.
    if (isSetting(name) || raw.startsWith('{') || raw.startsWith('[')) read(name, body.get(key), found)
  }
  return {
    outputTokens: found.limits.length === 0 ? null : Math.max(...found.limits),
    unlimited: found.unlimited,
    thinkingTokens: found.thinkingTokens,
    answers: found.answers,
    predictedBytes,
    searches,
    marksCache: mayName(CACHE_MARK, body.searchable),
    premiumTier,
  }
}

interface Found {
  limits: number[]
  unlimited: boolean
  thinkingTokens: number
  answers: number
}

/** Members that hold text for the model, schemas or names, and no settings. A schema has words like `maxLength` of its own. */
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'system',
  'systeminstruction',
  'instructions',
  'tools',
  'functions',
  'toolchoice',
  'toolconfig',
  'responseformat',
  'format',
  'text',
  'outputconfig',
  'schema',
  'jsonschema',
  'responseschema',
  'responsejsonschema',
  'guidedjson',
  'prediction',
  'metadata',
  'logitbias',
  'stop',
  'stopsequences',
  'user',
])

const LIMIT = /^(?!.*(?:prompt|input|context|tool|image))(?:max|min|num|n|limit)[a-z]*(?:tokens?|len|length|predict)[a-z]*$/
const THINKING = /budget/
/** Members whose limits are limits of thinking. */
const THINKING_FIELDS: ReadonlySet<string> = new Set(['reasoning', 'thinking', 'thinkingconfig', 'reasoningconfig'])
const ANSWERS =
  /^(?:n|bestof|nbest|beam(?:width|size|s)|(?:num|n)(?:return)?(?:sequences?|completions?|candidates?|generations?|responses?|outputs?|samples?|choices?|beams?|answers?)|(?:candidate|sample|completion|choice|response|generation)s?(?:count|num))$/

const isSetting = (name: string): boolean => ANSWERS.test(name) || LIMIT.test(name) || THINKING.test(name)

const read = (name: string, value: unknown, found: Found, thinks = false): void => {
  if (ANSWERS.test(name)) found.answers *= Math.max(1, Math.ceil(largestNumber(value)))
  else if (THINKING.test(name) || (thinks && LIMIT.test(name))) found.thinkingTokens = Math.max(found.thinkingTokens, largestNumber(value))
  else if (LIMIT.test(name)) {
    const limit = largestNumber(value)
    if (limit > 0) found.limits.push(limit)
    else if (limit < 0) found.unlimited = true
  }
  if (Array.isArray(value)) for (const entry of value as unknown[]) read('', entry, found, thinks)
  else if (isObject(value) && !isExactInteger(value))
    for (const [key, entry] of Object.entries(value)) {
      const inner = plainName(key)
      if (!TEXT_FIELDS.has(inner)) read(inner, entry, found, thinks || THINKING_FIELDS.has(name))
    }
}

/** Of a number, a text that can be read as one, or the largest in a list; 0 where there is none, -1 for a negative one. */
const largestNumber = (value: unknown): number => {
  if (typeof value === 'number') return value < 0 ? -1 : value
  if (isExactInteger(value)) return largestNumber(Number(JSON.stringify(value)))
  if (typeof value === 'string') {
    const number = Number(value.normalize('NFKC').replaceAll(/[\s_,]/g, '') || '0')
    return Number.isNaN(number) ? 0 : largestNumber(number)
  }
  if (!Array.isArray(value)) return 0
  return (value as unknown[]).reduce<number>((most, entry) => Math.max(most, largestNumber(entry)), 0)
}

const mayName = (pattern: RegExp, json: string): boolean => pattern.test(json) || ESCAPED_LETTER.test(json)

const CACHE_MARK = /[cC]ache_?(?:[cC]ontrol|[pP]oint)/
/** By the names of the tool, the option and the plugin in all dialects. How often a model searches nobody knows before. */
const SEARCH = /web_?search|google_?search|x_search|"id"\s*:\s*"web"/i
const SEARCH_FIELD = /^(?:websearch|searchparameters|enablesearch)/
const SEARCHES = 10
const USES = /^max(?:uses|searches|totalresults)$/

/** The most uses that any tool is allowed. */
const largestUse = (value: unknown): number => {
  if (Array.isArray(value)) return (value as unknown[]).reduce<number>((most, entry) => Math.max(most, largestUse(entry)), 0)
  if (!isObject(value) || isExactInteger(value)) return 0
  return Object.entries(value).reduce(
    (most, [key, entry]) => Math.max(most, USES.test(plainName(key)) ? largestNumber(entry) : largestUse(entry)),
    0,
  )
}

const TIER_FIELDS: ReadonlySet<string> = new Set(['servicetier', 'speed'])
/** Tiers that cost no more than the ordinary one. */
const ORDINARY: ReadonlySet<unknown> = new Set([null, 'default', 'standard', 'standard_only', 'flex', 'batch'])

/** Bedrock names its tier in an object. */
const isOrdinary = (tier: unknown): boolean => ORDINARY.has(isObject(tier) ? tier['type'] : tier)
