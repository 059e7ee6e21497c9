/**
 * Says whether the messages of a chat client may hold anything that the rules of a vendor change (message-rules.ts), judged by
 * their text alone: nearly always they do not, and then they are not parsed. In doubt it says that they may.
 */
import { skipString } from '../../lib/json-skip.ts'
import { includesInSteps, matchInSteps, testInSteps } from '../../lib/search-steps.ts'
import type { Steps } from '../../lib/steps.ts'
import type { Vendor } from '../vendor.ts'

/** `text`: JSON text of the messages. */
export function* lookForDoubts(text: string, vendor: Vendor): Steps<boolean> {
  const { textParts, namedRoles, toolMedia, developerRole, callIds, customTools, files } = vendor
  const holds = (pattern: RegExp): Steps<boolean> => testInSteps(pattern, text)
  if (
    (namedRoles !== 'any' && (yield* holds(NAME))) ||
    (!developerRole && (yield* includesInSteps(text, '"developer"'))) ||
    (callIds !== 'any' && (yield* holds(STRANGE_IDS[callIds]))) ||
    (!customTools && (yield* holds(CUSTOM))) ||
    ((yield* holds(FILE)) && (yield* mayRefuseFiles(text, files))) ||
    (textParts !== 'any' && (yield* holds(LIST))) ||
    (!toolMedia && (yield* includesInSteps(text, '"tool_call_id"')) && (yield* holds(MEDIA)) && (yield* holds(LIST))) ||
    hasBrokenArguments(text)
  )
    return true
  yield
  return yield* isDisordered(text, vendor)
}

/** A name that does not begin the object of a called function. */
const NAME = /(?<!"(?:function|custom)"\s*:\s*\{\s*)"name"\s*:/
/** Ids of any kind that the vendor may refuse, although only those of calls change. */
const STRANGE_IDS = {
  'at-most-40': /"(?:tool_call_)?id"\s*:\s*"[^"]{41}/,
  'nine-alphanumeric': /"(?:tool_call_)?id"\s*:\s*"(?![a-zA-Z0-9]{9}")/,
} as const
const CUSTOM = /"type"\s*:\s*"custom"/
const LIST = /"content"\s*:\s*\[/
const MEDIA = /"(?:image_url|input_audio|video_url|input_video|file)"/
/** A file of any kind has one of these words. */
const FILE = /"file(?:_data|_id)?"/i
/** Files that have to change: by an address, by an id, without a name, or any at all. */
const FILES: Readonly<Record<Vendor['files'], RegExp>> = {
  data: /"file_data"\s*:\s*"https?:/i,
  any: /"file_id"/,
  document_url: /"type"\s*:\s*"file"/,
}

function* mayRefuseFiles(text: string, files: Vendor['files']): Steps<boolean> {
  return (yield* testInSteps(FILES[files], text)) || (files !== 'document_url' && (yield* matchInSteps(DATA, text, isNameless(text))))
}

/** The beginning of a file whose data stand first. These may be megabytes, which no expression goes over. */
const DATA = /"file"\s*:\s*\{\s*"file_data"\s*:\s*"/gi

/** Says whether nothing follows the data, whose text has begun. */
const isNameless =
  (text: string) =>
  (_: unknown, end: number): boolean => {
    ENDING.lastIndex = skipString(text, end - 1)
    return ENDING.test(text)
  }

const ENDING = /\s*\}/y

/** Arguments that are no object from brace to brace. An expression would read them sign by sign. */
const hasBrokenArguments = (text: string): boolean => {
  for (let at = text.indexOf(ARGUMENTS); at >= 0; at = text.indexOf(ARGUMENTS, at + ARGUMENTS.length)) {
    VALUE.lastIndex = at + ARGUMENTS.length
    if (!VALUE.test(text)) continue
    const end = skipString(text, VALUE.lastIndex - 1)
    if (text[VALUE.lastIndex] !== '{' || text[end - 2] !== '}') return true
  }
  return false
}

const ARGUMENTS = '"arguments"'
const VALUE = /\s*:\s*"/y

/**
 * The tokens that show the order of turns, of calls and of results. A message's members may stand in any order: where the role
 * is not the first of them, more is doubted than is out of order.
 */
const TOKENS =
  /"(role|id|tool_call_id)"\s*:\s*"|"(content)"\s*:\s*null|"(tool_calls|function_call)"\s*:\s*(?:\[\s*\{|\{)|"tool_calls"\s*:\s*\[\s*\]/g

function* isDisordered(text: string, { strictOrder, contentBesideCalls }: Vendor): Steps<boolean> {
  const called = new Set<string>()
  const waiting = new Set<string>()
  let before = ''
  let silent = 0
  const isWrong = ([, member, content, calls]: RegExpExecArray, end: number): boolean => {
    if (calls !== undefined) silent -= 1
    else if (content !== undefined) {
      if (contentBesideCalls) return true
      silent += 1
    }
    // A list of calls without any is refused for being too short.
    else if (member === undefined) return true
    else {
      const value = text.slice(end, text.indexOf('"', end))
      if (member === 'id') {
        if (called.has(value)) return true
        called.add(value)
        waiting.add(value)
      } else if (member === 'tool_call_id') {
        if (!waiting.delete(value)) return true
      } else {
        if (silent > 0 || (value !== 'tool' && waiting.size > 0)) return true
        if (strictOrder && !follows(value, before)) return true
        silent = 0
        before = value
      }
    }
    return false
  }
  if (yield* matchInSteps(TOKENS, text, isWrong)) return true
  return silent > 0 || waiting.size > 0 || (strictOrder && before !== 'user' && before !== 'tool')
}

/** Says whether a turn of a role may stand behind one of another, where the vendor is strict. */
const follows = (role: string, before: string): boolean => {
  if (before === 'tool') return role === 'tool' || role === 'assistant'
  return before !== 'assistant' || role !== 'system'
}
