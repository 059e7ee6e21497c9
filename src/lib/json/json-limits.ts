/** The limits of JSON text, and the errors for text that is not JSON or exceeds them. */

export interface JsonLimits {
  /** Levels of nested containers, including the outermost. */
  readonly depth: number
  /** All values in total. */
  readonly nodes: number
  /** Values in one field, except in fields that hold conversations, tools or lists of them: a schema looks at all of them in one go. */
  readonly fieldNodes: number
  /** All objects and arrays outside of the conversation. The conversation is read in steps and has its own limit, `conversation`. */
  readonly containers: number
  readonly conversation: number
  /** Objects and arrays in one list, such as messages, items or tools. */
  readonly elements: number
  /** The most members of the outermost object (`fields`), and of any other object (`members`). */
  readonly fields: number
  readonly members: number
  /** Names of members in total, except those of the outermost object. */
  readonly namesInAll: number
  /** Characters in the names of all members together. */
  readonly nameCharacters: number
  /** Characters in the value of a name or id below the outermost object: such values are compared and copied at once. */
  readonly identifierCharacters: number
  /** Characters in all numbers together, including the words `true`, `false` and `null`. */
  readonly numberCharacters: number
  /** Escaped characters in total; an escape by number (`\u0061`) counts as four, which is what it costs. */
  readonly escapes: number
  /** Characters of white space between values, in total. */
  readonly spaces: number
  /**
   * All values in total if the body contains an integer too long for a double: keeping such an integer
   * as written makes parsing several times slower.
   */
  readonly exactNodes: number
  /**
   * `repeated` if an object within the outermost one may name a member twice: some parsers use the first, others the last. `unread` for
   * text that a parser has accepted or will read: only the ends of its values are looked for.
   */
  readonly names: 'once' | 'repeated' | 'unread'
}

/**
 * Deeper text than this overflows the stack of a serializer long before that of a parser (docs/contract/requests.md#bounds). The other
 * limits bound the time that reading a body takes at once, whatever it contains: a few tens of milliseconds.
 */
export const JSON_LIMITS: JsonLimits = {
  depth: 64,
  nodes: 200_000,
  fieldNodes: 50_000,
  containers: 20_000,
  conversation: 40_000,
  elements: 20_000,
  fields: 1000,
  members: 10_000,
  namesInAll: 60_000,
  nameCharacters: 2_000_000,
  identifierCharacters: 65_536,
  numberCharacters: 5_000_000,
  escapes: 1_000_000,
  spaces: 2_000_000,
  exactNodes: 25_000,
  names: 'once',
}

/** Text of at most this many characters is parsed as a whole, which checks every escape and costs little. */
export const WHOLE_PARSE_MAX = 32_768

const MANY = Number.MAX_SAFE_INTEGER

/** For text whose size does not matter. */
export const UNLIMITED: JsonLimits = {
  depth: 1024,
  nodes: MANY,
  fieldNodes: MANY,
  containers: MANY,
  conversation: MANY,
  elements: MANY,
  fields: MANY,
  members: MANY,
  namesInAll: MANY,
  nameCharacters: MANY,
  identifierCharacters: MANY,
  numberCharacters: MANY,
  escapes: MANY,
  spaces: MANY,
  exactNodes: MANY,
  names: 'repeated',
}

/** For text that a parser has accepted or will read. */
export const ACCEPTED: JsonLimits = { ...UNLIMITED, names: 'unread' }

/** The text is not the JSON object that was expected; `message` is a sentence for the sender. */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError'
}

/** The text exceeds its limits; it may or may not be JSON. */
export class JsonLimitError extends JsonTextError {}
