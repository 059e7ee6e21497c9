/**
 * How much work a body asks for, read as literally as a provider might read it: the largest of its output limits, the product of
 * all its answer counts, numbers written as text, names in any case, and settings inside an object. A hold must cover this much
 * (docs/budgets.md).
 */
import { addedTools, addsToolsByBlocks, mayAddTools, toolsOfMessages } from './added-tools.ts'
import { isExactInteger } from '../lib/json/exact-json.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { isObject } from '../lib/json/json.ts'
import { writeInSteps } from '../lib/json/json-steps.ts'
import { lookForName, mayName } from '../lib/text/may-name.ts'
import { atOnce, startPace, type Steps } from '../lib/steps.ts'
import { CONVERSATION_FIELDS, plainName } from './conversation-media.ts'
import { wordSet } from '../lib/text/word-set.ts'
import { asksForSearch, SEARCH_FIELDS } from './search-words.ts'

export interface AskedWork {
  /** The largest limit of output tokens; null if there is none, Infinity if one is too large to read. */
  readonly outputTokens: number | null
  /** A limit such as -1 is present, which means as much as possible. */
  readonly unlimited: boolean
  /** The largest thinking budget in tokens; 0 if there is none. */
  readonly thinkingTokens: number
  /** The number of answers to the prompt, at least 1. */
  readonly answers: number
  /** Bytes of a predicted output; the parts that turn out wrong are charged as output. */
  readonly predictedBytes: number
  /** The number of searches that the provider may make. */
  readonly searches: number
  /** The number of searches that the provider may make in stored files. */
  readonly fileSearches: number
  /** The number of tools that may each start a container at the provider, and the memory of the largest in GB. */
  readonly containers: number
  readonly containerGigabytes: number
  /** The provider's own tool may draw pictures. */
  readonly draws: boolean
  /** The most calls of the provider's own tools that the body allows; null if it sets no bound. */
  readonly toolCalls: number | null
  /** The body names a service tier that may cost more than the ordinary one. */
  readonly premiumTier: boolean
  /** The provider may summarise the conversation first, in a separate call whose tokens are charged too. */
  readonly compacts: boolean
}

/** `lookingForWork` caches its result with the body, so this is cheap even where the caller cannot wait. */
export const askedWork = (body: JsonBody): AskedWork => atOnce(lookingForWork(body))

/** Throws JsonTextError. */
export function* lookingForWork(body: JsonBody): Steps<AskedWork> {
  const known = FOUND.get(body)
  if (known !== undefined) return known
  const found: Found = {
    limits: [],
    unlimited: false,
    thinkingTokens: 0,
    answers: 1,
    predictedBytes: 0,
    searches: 0,
    fileSearches: 0,
    containers: 0,
    containerGigabytes: 0,
    draws: false,
    toolCalls: null,
    premiumTier: false,
    compacts: false,
    nested: [],
  }
  const isStep = startPace()
  for (const key of body.keys) {
    const name = plainName(key)
    const raw = body.rawSearchable(key) ?? ''
    if (CONVERSATION_FIELDS.has(name)) {
      if (name === 'input' && (yield* mayAddTools(raw)) && (yield* lookForName(HOSTED, raw)))
        found.nested.push({ name: 'tools', value: addedTools(yield* body.parsing(key)).map(({ raw: tool }) => tool) })
      if (name === 'messages' && (yield* addsToolsByBlocks(raw)) && (yield* lookForName(HOSTED, raw)))
        found.nested.push({ name: 'tools', value: toolsOfMessages(yield* body.parsing(key)).map(({ raw: tool }) => tool) })
      continue
    }
    // Tools may be large and providers run few of them, so they are parsed only if their text may name one of those.
    if (TOOL_FIELDS.has(name)) {
      if (yield* lookForName(HOSTED, raw)) readTools(yield* body.parsing(key), raw, found)
    } else if (name === PREDICTION) readPrediction(body.rawHeld(key) ?? '', found)
    // Only a number, a text that may be one, or an object with settings in it can ask for work; a plain word cannot.
    else if (!TEXT_FIELDS.has(name) && (isSetting(name) || raw.startsWith('{') || raw.startsWith('[')))
      read(name, yield* body.parsing(key), found)
    if (isStep(raw.length)) yield
  }
  const { limits, nested, ...rest } = found
  for (const { name, value } of nested) {
    const json = yield* writeInSteps(value)
    if (name === PREDICTION) readPrediction(json, rest)
    else if (yield* lookForName(HOSTED, json)) readTools(value, json, rest)
    yield
  }
  const work = { ...rest, outputTokens: limits.length === 0 ? null : Math.max(...limits) }
  FOUND.set(body, work)
  return work
}

const FOUND = new WeakMap<JsonBody, AskedWork>()

/** Returns true if the body asks for input to be written to a cache, which may cost more than reading it. */
export const marksCache = (body: JsonBody): Steps<boolean> => lookForName(CACHE_MARK, body.searchable)

/** Returns true if the body may ask for a cache that is kept for hours: one at Anthropic and Bedrock, twelve at OpenAI. */
export const asksForHours = (body: JsonBody): boolean => mayName(HOURS, body.searchable)

type Work = { -readonly [Name in keyof Omit<AskedWork, 'outputTokens'>]: AskedWork[Name] }
interface Found extends Work {
  limits: number[]
  /** Tools and predictions inside other members; they are examined as JSON text. */
  nested: { readonly name: string; readonly value: unknown }[]
}

/** Members that hold text for the model, schemas or names, but no settings. A schema has words such as `maxLength` of its own. */
const TEXT_FIELDS: ReadonlySet<string> = wordSet(`
  model system systeminstruction instructions functions toolchoice toolconfig responseformat format text outputconfig
  schema jsonschema responseschema responsejsonschema guidedjson metadata logitbias stop stopsequences user
`)

const TOOL_FIELDS: ReadonlySet<string> = new Set(['tools', 'plugins'])
const PREDICTION = 'prediction'

/** The negative lookahead excludes token counts that do not limit output: those of input, of single tokens, and of their treatment. */
const LIMIT = /^(?!.*(?:prompt|input|context|ctx|tool|image|penalty|ids?$)).*(?:tok|len|predict|maxoutput|outputlimit)/
const THINKING = /budget/
/** Members whose limits are limits of thinking. */
const THINKING_FIELDS: ReadonlySet<string> = new Set(['reasoning', 'thinking', 'thinkingconfig', 'reasoningconfig'])
const ANSWER_WORDS = 'sequence|completion|candidate|generation|response|output|sample|choice|beam|answer|repetition|replica'
const ANSWERS = new RegExp(
  `^(?:n|bestof|nbest|beam(?:width|size|s)|repeat|(?:num|n|number|count)(?:of)?(?:return)?(?:${ANSWER_WORDS})s?|(?:${ANSWER_WORDS})(?:s|s?(?:count|num)))$`,
)
const TIER_FIELDS: ReadonlySet<string> = new Set(['servicetier', 'speed'])
const isSearch = (name: string): boolean => SEARCH_FIELDS.has(name) || name.startsWith('websearch')
const TOOL_CALLS = 'maxtoolcalls'

const isSetting = (name: string): boolean =>
  ANSWERS.test(name) || LIMIT.test(name) || THINKING.test(name) || TIER_FIELDS.has(name) || isSearch(name) || name === TOOL_CALLS

const read = (name: string, value: unknown, found: Found, thinks = false): void => {
  if (TEXT_FIELDS.has(name)) return
  if (TOOL_FIELDS.has(name) || name === PREDICTION) {
    found.nested.push({ name, value })
    return
  }
  if (TIER_FIELDS.has(name)) found.premiumTier ||= !isOrdinary(value)
  else if (name === TOOL_CALLS) found.toolCalls = Math.max(found.toolCalls ?? 0, largestNumber(value))
  else if (name === CONTEXT_MANAGEMENT) found.compacts ||= isCompaction(value)
  else if (isSearch(name)) {
    if (asksForSearch(value)) found.searches = Math.max(found.searches, SEARCHES, largestUse(value))
  } else if (ANSWERS.test(name)) found.answers *= Math.max(1, Math.ceil(largestNumber(value)))
  else if (THINKING.test(name) || (thinks && LIMIT.test(name))) found.thinkingTokens = Math.max(found.thinkingTokens, largestNumber(value))
  else if (LIMIT.test(name)) {
    const limit = largestNumber(value)
    if (limit > 0) found.limits.push(limit)
    else if (limit < 0) found.unlimited = true
  }
  if (Array.isArray(value)) for (const entry of value as unknown[]) read('', entry, found, thinks)
  else if (isObject(value) && !isExactInteger(value))
    for (const [key, entry] of Object.entries(value)) read(plainName(key), entry, found, thinks || THINKING_FIELDS.has(name))
}

const CONTEXT_MANAGEMENT = 'contextmanagement'

/** Anthropic lists `compact_20260112` among other edits; OpenAI puts `compaction` in a list. */
const isCompaction = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(isCompaction)
  if (!isObject(value)) return false
  const { type, edits } = value
  return (typeof type === 'string' && type.startsWith('compact')) || isCompaction(edits)
}

const readTools = (value: unknown, json: string, found: Work): void => {
  if (mayName(SEARCH, json)) found.searches = Math.max(found.searches, SEARCHES, largestUse(value))
  if (mayName(FILE_SEARCH, json)) found.fileSearches = SEARCHES
  found.draws ||= mayName(DRAWING, json)
  if (Array.isArray(value) && (value as unknown[]).some(freesCode)) return
  for (const gigabytes of containersIn(value)) {
    found.containers += 1
    found.containerGigabytes = Math.max(found.containerGigabytes, gigabytes)
  }
}

/** The memory in GB of the containers that the tools may start. One that is named by its id counts as one of the least. */
const containersIn = (value: unknown): readonly number[] => {
  if (Array.isArray(value)) return value.flatMap(containersIn)
  if (!isObject(value) || isExactInteger(value)) return []
  const { type, container, environment, memory_limit: memory } = value
  if (type === 'code_interpreter') return [gigabytesOf(container)]
  if (typeof type === 'string' && CONTAINER.test(type)) return [typeof memory === 'string' ? gigabytesOf(value) : 1]
  return isObject(environment) ? containersIn(environment) : Object.values(value).flatMap(containersIn)
}

/** OpenAI writes the memory as `4g`. */
const gigabytesOf = (container: unknown): number =>
  isObject(container) && typeof container['memory_limit'] === 'string'
    ? Math.max(1, Number.parseInt(container['memory_limit'], 10) || 1)
    : 1

const readPrediction = (json: string, found: Work): void => {
  found.predictedBytes = Math.max(found.predictedBytes, Buffer.byteLength(json))
}

/** Returns a number, a text read as a number, or the largest number in a list; 0 if there is none, -1 for a negative one. */
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

/** The marks of Anthropic and Bedrock, and OpenAI's mark and settings. */
const CACHE_MARK = /[cC]ache_?(?:[cC]ontrol|[pP]oint|breakpoint|options|retention)/
const HOURS = /"ttl"\s*:\s*"12?h"/
/** Matches the names of the tool, the option and the plugin in all dialects. How often a model will search cannot be known in advance. */
const SEARCH = /web_?(?:search|browser)|google_?search|(?:x|live|browser)_search|"id"\s*:\s*"web"/i
const SEARCHES = 10
/** Match OpenAI's tools, which are named in its dialect alone, and those that run code there and at Anthropic. */
const DRAWING = /"type"\s*:\s*"image_generation"/i
const FILE_SEARCH = /"type"\s*:\s*"file_search"/i
const CONTAINER = /^(?:container_(?:auto|reference)|code_execution_\d{8})$/
const HOSTED = new RegExp(
  `${SEARCH.source}|${DRAWING.source}|${FILE_SEARCH.source}|"(?:code_interpreter|container_auto|container_reference)"|"code_execution_\\d`,
  'i',
)
/** Anthropic asks nothing for code beside these (platform.claude.com, "Code execution tool"). */
const freesCode = (tool: unknown): boolean =>
  isObject(tool) && typeof tool['type'] === 'string' && /^web_(?:search|fetch)_20(?:2[6-9]|[3-9]\d)\d{4}$/.test(tool['type'])
const USES = /^max(?:uses|searches|totalresults)$/

/** The highest use limit found on any tool. */
const largestUse = (value: unknown): number => {
  if (Array.isArray(value)) return (value as unknown[]).reduce<number>((most, entry) => Math.max(most, largestUse(entry)), 0)
  if (!isObject(value) || isExactInteger(value)) return 0
  return Object.entries(value).reduce(
    (most, [key, entry]) => Math.max(most, USES.test(plainName(key)) ? largestNumber(entry) : largestUse(entry)),
    0,
  )
}

/** Tiers that cost no more than the ordinary one. */
const ORDINARY: ReadonlySet<unknown> = new Set([null, 'default', 'standard', 'standard_only', 'on_demand', 'flex', 'batch'])

/** The ordinary tiers and the tiers that use capacity which the operator's account has bought; none of them asks for a premium. */
export const NO_DEARER_TIERS: ReadonlySet<unknown> = new Set([...ORDINARY, 'auto', 'scale', 'reserved'])

/** Bedrock wraps its tier in an object with a `type`. */
const isOrdinary = (tier: unknown): boolean => ORDINARY.has(isObject(tier) ? tier['type'] : tier)
