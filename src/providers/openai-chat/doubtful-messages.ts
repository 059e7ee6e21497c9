/**
 * Decides by the text alone whether the messages of a chat client may hold anything that the rules of a vendor change (message-rules.ts):
 * nearly always they do not, and then they are not parsed. If in doubt, the answer is that they may.
 */
import { skipString } from '../../lib/json/json-skip.ts'
import { includesInSteps, matchInSteps, testInSteps } from '../../lib/text/search-steps.ts'
import type { Steps } from '../../lib/steps.ts'
import type { Vendor } from '../vendors/vendor.ts'

/** `text`: JSON text of the messages. */
export function* lookForDoubts(text: string, vendor: Vendor): Steps<boolean> {
  const { textParts, namedRoles, toolMedia, developerRole, callIds, customTools, files } = vendor
  const holds = (pattern: RegExp): Steps<boolean> => testInSteps(pattern, text)
  if (
    (namedRoles !== 'any' && (yield* holds(NAME))) ||
    (!developerRole && (yield* includesInSteps(text, '"developer"'))) ||
    (callIds !== 'any' && (yield* holds(STRANGE_IDS[callIds]))) ||
    (!customTools && (yield* holds(CUSTOM))) ||
    (yield* holds(OTHER_MEDIA)) ||
    (yield* holds(THINKING_PART)) ||
    (yield* holds(EMPTY_CONTENT)) ||
    ((yield* holds(FILE)) && (yield* mayRefuseFiles(text, files))) ||
    (textParts !== 'any' && (yield* holds(LIST))) ||
    (!toolMedia && (yield* includesInSteps(text, '"tool_call_id"')) && (yield* holds(MEDIA)) && (yield* holds(LIST))) ||
    hasUnusualCalls(text)
  )
    return true
  yield
  return yield* isDisordered(text, vendor)
}

/** Matches a name that does not begin the object of a called function. */
const NAME = /(?<!"(?:function|custom)"\s*:\s*\{\s*)"name"\s*:/
/** Matches ids of any kind that the vendor may refuse, although only those of calls are changed. */
const STRANGE_IDS = {
  'at-most-40': /"(?:tool_call_)?id"\s*:\s*"[^"]{41}/,
  'nine-alphanumeric': /"(?:tool_call_)?id"\s*:\s*"(?![a-zA-Z0-9]{9}")/,
} as const
const CUSTOM = /"type"\s*:\s*"custom"/
const LIST = /"content"\s*:\s*\[/
const MEDIA = /"(?:image_url|input_audio|video_url|input_video|file)"/
/** Matches addresses without an object around them, and the document parts of Mistral and Perplexity. */
const OTHER_MEDIA = /"(?:image|video)_url"\s*:\s*"|"type"\s*:\s*"(?:document|file)_url"/
/** A turn of nothing but thinking says nothing to a vendor that does not get it. */
const THINKING_PART = /"type"\s*:\s*"thinking"/
const EMPTY_CONTENT = /"content"\s*:\s*\[\s*\]/
/** Every file has one of these members. */
const FILE = /"file(?:_data|_id)?"/i
/**
 * Matches files that have to change: named by an address (`data`), by an id (`any`), or all files. Files without a name are found by
 * DATA.
 */
const FILES: Readonly<Record<Vendor['files'], RegExp>> = {
  data: /"file_data"\s*:\s*"https?:/i,
  any: /"file_id"/,
  document_url: /"type"\s*:\s*"file"/,
  file_url: /"type"\s*:\s*"file"/,
}

function* mayRefuseFiles(text: string, files: Vendor['files']): Steps<boolean> {
  return (
    (yield* testInSteps(FILES[files], text)) ||
    ((files === 'data' || files === 'any') && (yield* matchInSteps(DATA, text, isNameless(text))))
  )
}

/** The beginning of a file whose data come first. The data may be megabytes, so no regular expression runs over them. */
const DATA = /"file"\s*:\s*\{\s*"file_data"\s*:\s*"/gi

/** Returns a function that says whether the file ends right after its data, so that it has no name. */
const isNameless =
  (text: string) =>
  (_: unknown, end: number): boolean => {
    ENDING.lastIndex = skipString(text, end - 1)
    return ENDING.test(text)
  }

const ENDING = /\s*\}/y

/**
 * Says whether any arguments look like no object, or fewer calls than have arguments name their type. The text is searched and not matched,
 * because a regular expression would read it character by character.
 */
const hasUnusualCalls = (text: string): boolean => {
  let calls = 0
  for (let at = text.indexOf(ARGUMENTS); at >= 0; at = text.indexOf(ARGUMENTS, at + ARGUMENTS.length)) {
    calls += 1
    VALUE.lastIndex = at + ARGUMENTS.length
    if (!VALUE.test(text)) return true
    const end = skipString(text, VALUE.lastIndex - 1)
    if (isNoObject(text.slice(VALUE.lastIndex, end - 1))) return true
  }
  // A call has the word twice, as its type and as the name of a member.
  return calls > 0 && countOf(text, FUNCTION, 2 * calls) < 2 * calls
}

/** `text`: arguments as they are written in the body. Objects that were glued together, which models write, are none. */
const isNoObject = (text: string): boolean =>
  !BEGINNING.test(text) || !text.endsWith('}') || text.endsWith(',}') || GLUE.some((glue) => text.includes(glue))

/** Matches a brace before the first name, or before the end. */
const BEGINNING = /^\{(?:\s|\\[nrt])*(?:\\"|\})/
const GLUE = ['}{', '} {', '}\\n{'] as const

/** Counts no further than `most`. */
const countOf = (text: string, word: string, most: number): number => {
  let count = 0
  for (let at = text.indexOf(word); at >= 0 && count < most; at = text.indexOf(word, at + word.length)) count += 1
  return count
}

const FUNCTION = '"function"'

const ARGUMENTS = '"arguments"'
const VALUE = /\s*:\s*"/y

/**
 * The tokens that show the order of turns, of calls and of results. The first and the last show what vendors refuse: a result without
 * content whose role comes behind it, which the count of silent messages does not tell from an assistant's, and an empty list of calls. The members of a message may come in any order: if the role is not the
 * first, messages that are in order may be reported as doubtful.
 */
const TOKENS =
  /"content"\s*:\s*null\s*,\s*(?:"(?:name|tool_call_id)"\s*:\s*"[^"]*"\s*,\s*)*"role"\s*:\s*"tool"|"(role|id|tool_call_id)"\s*:\s*"|"(content)"\s*:\s*null|"(tool_calls|function_call)"\s*:\s*(?:\[\s*\{|\{)|"tool_calls"\s*:\s*\[\s*\]/g

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
    } else if (member === undefined) return true
    else {
      const value = text.slice(end, text.indexOf('"', end))
      if (member === 'id') {
        if (value === '' || called.has(value)) return true
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

/** Says whether a turn with `role` may follow one with the role `before` at a strict vendor. */
const follows = (role: string, before: string): boolean => {
  if (before === 'tool') return role === 'tool' || role === 'assistant'
  return before !== 'assistant' || role !== 'system'
}
