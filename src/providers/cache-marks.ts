/** Cache marks in a history and tools that stay in their dialect, for providers that refuse such marks or use others. */
import type { CacheMark } from '../canonical/prompt.ts'
import type { Warning } from '../canonical/warning.ts'
import type { JsonObject } from '../lib/json/json.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { editElementsInSteps, editMembers, readMembers } from '../lib/json/json-splice.ts'
import { includesInSteps } from '../lib/text/search-steps.ts'
import type { Steps } from '../lib/steps.ts'

const CACHE_MARKS = ['cache_control', 'prompt_cache_breakpoint'] as const

/**
 * How a provider treats each mark. `breakpoint`: OpenAI's models that take breakpoints get them in place of Anthropic's marks on content.
 */
export interface RefusedMarks {
  readonly cache_control: 'taken' | 'refused' | 'breakpoint'
  readonly prompt_cache_breakpoint: 'taken' | 'refused'
}

/**
 * JSON text for those of `lists` (JSON text too) whose marks have to change; empty if the body holds no such mark. Only one warning is
 * given for all marks that are left out, because coding agents put many marks on every request.
 */
export function* withTakenMarks(
  body: JsonBody,
  lists: () => Readonly<Record<string, string | undefined>>,
  refused: RefusedMarks,
  warn: (field: string) => void,
): Steps<Record<string, string>> {
  const changed: Record<string, string> = {}
  if (!(yield* isMarked(body.searchable, refused))) return changed
  let reported = false
  let lost = false
  const lose = (): void => void (lost = true)
  for (const [field, text] of Object.entries(lists())) {
    if (text === undefined || !text.startsWith('[')) continue
    yield
    const unmarked = yield* editElementsInSteps(text, function* (element, index) {
      const next = yield* withMarks(element, 'element', refused, lose)
      if (lost && !reported) {
        reported = true
        warn(`${field}[${index}]`)
      }
      return next
    })
    if (unmarked !== text) changed[field] = unmarked
  }
  return changed
}

export const marksLost = (providerName: string, field: string): Warning => ({
  code: 'unsupported_field',
  field,
  message: `${providerName} caches prompts by itself; marks of what to cache were left out.`,
})

/** The members that hold the parts of a message, of an item and of a tool's result. */
const PARTS = ['content', 'output'] as const

function* isMarked(text: string, refused: RefusedMarks): Steps<boolean> {
  for (const name of CACHE_MARKS) if (refused[name] !== 'taken' && (yield* includesInSteps(text, `"${name}"`))) return true
  return false
}

const BREAKPOINT = '{"mode":"explicit"}'

/** OpenAI's mark, with the lifetime that its own client named. */
export const cacheBreakpoint = ({ breakpointTtl: ttl }: CacheMark): JsonObject => ({
  mode: 'explicit',
  ...(ttl === undefined ? {} : { ttl }),
})

/** `text`: the JSON of a message, an item or a tool, or of a part of its content. */
function* withMarks(text: string, place: 'element' | 'part', refused: RefusedMarks, lose: () => void): Steps<string> {
  if (!text.startsWith('{') || !(yield* isMarked(text, refused))) return text
  const changes: Record<string, string | null> = {}
  const members = readMembers(text)
  for (const name of CACHE_MARKS) {
    const mark = refused[name] === 'taken' ? undefined : members.get(name)
    if (mark === undefined) continue
    changes[name] = null
    const said = place === 'element' ? members.get('content') : undefined
    if (mark === 'null') continue
    if (refused[name] !== 'breakpoint') lose()
    else if (place === 'part') changes['prompt_cache_breakpoint'] = BREAKPOINT
    // A mark on a message whose content is a string becomes a breakpoint on that text.
    else if (said?.startsWith('"') === true) changes['content'] = `[{"type":"text","text":${said},"prompt_cache_breakpoint":${BREAKPOINT}}]`
    else lose()
  }
  for (const member of PARTS) {
    const parts = members.get(member)
    if (parts?.startsWith('[') === true)
      changes[member] = yield* editElementsInSteps(parts, (part) => withMarks(part, 'part', refused, lose))
  }
  return Object.keys(changes).length === 0 ? text : editMembers(text, changes)
}

/** Anthropic's limit for a request, also for Claude on Bedrock. */
export const MARKS_MAX = 4

export const tooManyMarks = (providerName: string, lost: number): Warning => ({
  code: 'unsupported_field',
  field: 'cache_control',
  message: `${providerName} takes at most ${MARKS_MAX} marks of what to cache; ${lost} were left out.`,
})

/** The mark of the request stands for one on its last block, so one of its own takes its place; with another lifetime both are refused. */
export const supersededMark = (providerName: string): Warning => ({
  code: 'mapped_field',
  field: 'cache_control',
  message: `${providerName} takes one mark of what to cache on the last block; that of the block was sent, and not that of the request.`,
})

/**
 * Decides which marks stay, by their positions in the order in which the model reads them: the last one before the conversation, which
 * covers tools and system prompt, and the last ones in it, since each reaches back to the one before.
 */
export const keptMarks = (before: number, inside: number, most: number): ((position: number) => boolean) => {
  const insideKept = Math.min(inside, before > 0 ? most - 1 : most)
  const beforeKept = Math.min(before, most - insideKept)
  return (position) => (position < before ? position >= before - beforeKept : position >= before + inside - insideKept)
}

/**
 * Takes the `ttl` of each mark in the order in which the model reads them. A mark of an hour after one of five minutes would be refused, so
 * it is shortened to five minutes.
 */
export const inOrderOfLifetimes = (): ((ttl: unknown) => 'kept' | 'shortened') => {
  let short = false
  return (ttl) => {
    if (ttl === '1h') return short ? 'shortened' : 'kept'
    short = true
    return 'kept'
  }
}

export const shortenedMark = (providerName: string): Warning => ({
  code: 'mapped_field',
  field: 'cache_control',
  message: `${providerName} takes no mark of an hour after one of five minutes; five minutes were sent.`,
})
