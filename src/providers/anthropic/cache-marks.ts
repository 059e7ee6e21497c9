/**
 * Limits cache marks: the API refuses a request with more than four of them, or with a long-lived one after a short-lived one, and coding
 * agents ignore these limits.
 */
import { scanElements } from '../../lib/json/json-scan.ts'
import { editElementsInSteps, editMembers, rawMember, readMembers } from '../../lib/json/json-splice.ts'
import { includesInSteps } from '../../lib/text/search-steps.ts'
import type { Steps } from '../../lib/steps.ts'
import { inOrderOfLifetimes, keptMarks, MARKS_MAX, shortenedMark, supersededMark, tooManyMarks } from '../cache-marks.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { Attempt, Target } from '../provider.ts'

export interface MarkedTexts {
  /** JSON texts, if present. */
  readonly tools: string | undefined
  readonly system: string | undefined
  readonly messages: string | undefined
  /** The mark of the request as a whole, which counts as one of the four. */
  readonly cache_control: string | undefined
}

/** Returns only the texts in which a mark changes. */
export function* settleCacheMarks(
  { cache_control: asked, ...texts }: MarkedTexts,
  { target, warn }: Pick<Attempt, 'target' | 'warn'>,
): Steps<Partial<Record<keyof MarkedTexts, string | null>>> {
  const whole = asked === undefined || isSuperseded(asked, lastBlock(texts.messages), { target, warn }) ? undefined : asked
  const most = MARKS_MAX - (whole === undefined ? 0 : 1)
  const tools = yield* countMarks(texts.tools)
  const system = yield* countMarks(texts.system)
  const messages = yield* countMarks(texts.messages)
  const all = tools + system + messages
  if (all > most) warn(tooManyMarks(target.providerName, all - most))
  const isKept = all > most ? keptMarks(tools + system, messages, most) : () => true
  const settle = inOrderOfLifetimes()
  let position = -1
  let shortened = false
  const lawful = (mark: string): string => {
    if (settle(isOfHour(mark) ? '1h' : undefined) === 'kept') return mark
    shortened = true
    return editMembers(mark, { ttl: '"5m"' })
  }
  const edit = (mark: string): string | null => {
    position += 1
    return isKept(position) ? lawful(mark) : null
  }
  const given = { ...texts, cache_control: asked }
  // The edits run in the order in which the model reads the texts.
  const changed = {
    tools: yield* editMarks(texts.tools, edit),
    system: yield* editMarks(texts.system, edit),
    messages: yield* editMarks(texts.messages, edit),
    cache_control: whole === undefined ? asked && null : lawful(whole),
  }
  if (shortened) warn(shortenedMark(target.providerName))
  return Object.fromEntries(Object.entries(changed).filter(([name, text]) => text !== given[name as keyof typeof given]))
}

const isOfHour = (mark: string): boolean => rawMember(mark, 'ttl') === '"1h"'

/**
 * Says whether a mark on the last block of the conversation takes the place of that of the request (`whole`), and reports it if their
 * lifetimes differ. Takes JSON texts.
 */
export const isSuperseded = (
  whole: string,
  block: string | undefined,
  { target, warn }: { readonly target: Pick<Target, 'providerName'>; warn(warning: Warning): void },
): boolean => {
  const mark = block?.startsWith('{') === true ? (rawMember(block, NAME) ?? 'null') : 'null'
  if (mark === 'null') return false
  if (isOfHour(mark) !== isOfHour(whole)) warn(supersededMark(target.providerName))
  return true
}

const lastBlock = (messages: string | undefined): string | undefined => {
  const message = lastElement(messages)
  return message?.startsWith('{') === true ? lastElement(rawMember(message, 'content')) : undefined
}

/** Undefined for what is no list, or an empty one. */
const lastElement = (text: string | undefined): string | undefined => {
  const place = text?.startsWith('[') === true ? scanElements(text).at(-1) : undefined
  return place === undefined ? undefined : text?.slice(place.start, place.end)
}

/** Searches the text, so that a request within the limits is not parsed. */
export function* mayBreakMarks(text: string): Steps<boolean> {
  if (!(yield* includesInSteps(text, `"${NAME}"`))) return false
  const most = (yield* includesInSteps(text, '"1h"')) ? 1 : MARKS_MAX
  yield
  return text.split(`"${NAME}"`, MARKS_MAX + 2).length > most + 1
}

const NAME = 'cache_control'

function* countMarks(text: string | undefined): Steps<number> {
  let count = 0
  if (text?.includes(`"${NAME}"`) === true)
    yield* editMarks(text, (mark) => {
      count += 1
      return mark
    })
  return count
}

type Edit = (mark: string) => string | null

/** Applies `edit` to each mark of a list of blocks, messages or tools; null removes the mark. */
function* editMarks<Text extends string | undefined>(text: Text, edit: Edit): Steps<Text | string> {
  return text?.startsWith('[') === true ? yield* editElementsInSteps(text, (one) => editMark(one, edit)) : text
}

function* editMark(text: string, edit: Edit): Steps<string> {
  if (!text.startsWith('{') || !text.includes(`"${NAME}"`)) return text
  const members = readMembers(text)
  const content = members.get('content')
  const edited = yield* editMarks(content, edit)
  const mark = members.get(NAME)
  const next = mark === undefined || mark === 'null' ? mark : edit(mark)
  if (next === mark && edited === content) return text
  return editMembers(text, { ...(edited === undefined ? {} : { content: edited }), ...(next === mark ? {} : { [NAME]: next ?? null }) })
}
