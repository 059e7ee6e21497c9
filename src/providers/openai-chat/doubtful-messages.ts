/**
 * Says whether the messages of a chat client may hold anything that the rules of a vendor change (message-rules.ts), judged by
 * their text alone: nearly always they do not, and then they are not parsed. In doubt it says that they may.
 */
import { skipString } from '../../lib/json-scan.ts'
import { testInSteps } from '../../lib/search-steps.ts'
import type { Steps } from '../../lib/steps.ts'
import type { Vendor } from '../vendor.ts'

/** `text`: JSON text of the messages. */
export function* lookForDoubts(text: string, vendor: Vendor): Steps<boolean> {
  const { textParts, namedRoles, toolMedia, developerRole, callIds, customTools, files } = vendor
  const holds = (pattern: RegExp): Steps<boolean> => testInSteps(pattern, text)
  if (
    (namedRoles !== 'any' && (yield* holds(NAME))) ||
    (!developerRole && text.includes('"developer"')) ||
    (callIds !== 'any' && (yield* holds(STRANGE_IDS[callIds]))) ||
    (!customTools && (yield* holds(CUSTOM))) ||
    ((yield* holds(FILE)) && FILES[files].test(text)) ||
    (textParts !== 'any' && (yield* holds(LIST))) ||
    (!toolMedia && text.includes('"tool_call_id"') && (yield* holds(MEDIA)) && (yield* holds(LIST))) ||
    hasBrokenArguments(text)
  )
    return true
  yield
  return isDisordered(text, vendor)
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
/** A file of any kind has one of these words. A match below may take all of its data, and is looked for in one go. */
const FILE = /"file(?:_data|_id)?"/i
/** Files that have to change: by an address, by an id, without a name, or any at all. */
const NAMELESS = String.raw`"file"\s*:\s*\{\s*"file_data"\s*:\s*"[^"]*"\s*\}`
const FILES: Readonly<Record<Vendor['files'], RegExp>> = {
  data: new RegExp(String.raw`"file_data"\s*:\s*"https?:|${NAMELESS}`, 'i'),
  any: new RegExp(`"file_id"|${NAMELESS}`),
  document_url: /"type"\s*:\s*"file"/,
}

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
  /"(role|id|tool_call_id)"\s*:\s*"([^"]*)"|"(content)"\s*:\s*null|"(tool_calls|function_call)"\s*:\s*(?:\[\s*\{|\{)|"tool_calls"\s*:\s*\[\s*\]/g

const isDisordered = (text: string, { strictOrder, contentBesideCalls }: Vendor): boolean => {
  const called = new Set<string>()
  const waiting = new Set<string>()
  let before = ''
  let silent = 0
  for (const [token, member, value = '', content, calls] of text.matchAll(TOKENS)) {
    if (calls !== undefined) silent -= 1
    else if (content !== undefined) {
      if (contentBesideCalls) return true
      silent += 1
    } else if (member === 'id') {
      if (called.has(value)) return true
      called.add(value)
      waiting.add(value)
    } else if (member === 'tool_call_id') {
      if (!waiting.delete(value)) return true
    } else if (member === 'role') {
      if (silent > 0 || (value !== 'tool' && waiting.size > 0)) return true
      if (strictOrder && !follows(value, before)) return true
      silent = 0
      before = value
    }
    // A list of calls without any is refused for being too short.
    else if (token !== '') return true
  }
  return silent > 0 || waiting.size > 0 || (strictOrder && before !== 'user' && before !== 'tool')
}

/** Says whether a turn of a role may stand behind one of another, where the vendor is strict. */
const follows = (role: string, before: string): boolean => {
  if (before === 'tool') return role === 'tool' || role === 'assistant'
  return before !== 'assistant' || role !== 'system'
}
