/** The bounds of JSON text, and the errors of text that is not JSON or exceeds them. */

export interface JsonLimits {
  /** Nested containers, the outermost counted. */
  readonly depth: number
  /** Values in all. */
  readonly nodes: number
  /** Values in one field, those aside that hold conversations, tools or lists of them: a schema looks at each in one go. */
  readonly fieldNodes: number
  /** Objects and arrays in all, those of a conversation aside, which may have so many itself: it is read in steps. */
  readonly containers: number
  readonly conversation: number
  /** Objects and arrays that stand in the list of one field: messages, items, tools. */
  readonly elements: number
  /** The most members of the outermost object, and of any other one. */
  readonly fields: number
  readonly members: number
  /** Names of members in all, those of the outermost object aside. */
  readonly namesInAll: number
  /** Characters of the names of all members. */
  readonly nameCharacters: number
  /** Characters of a text that a member of an object beside the outermost one has as its name or id: they are compared and copied at once. */
  readonly identifierCharacters: number
  /** Characters of all numbers; the words `true`, `false` and `null` count as such. */
  readonly numberCharacters: number
  /** Characters that are written as an escape, in all; one by its number (`\u0061`) counts as four, which is what it costs. */
  readonly escapes: number
  /** Characters of white space between values, in all. */
  readonly spaces: number
  /** Values in all beside an integer of so many digits that it is kept as it was written, which takes several times as long. */
  readonly exactNodes: number
  /** Says whether an object within the outermost one may name a member twice: some parsers heed the first, others the last. */
  readonly names: 'once' | 'repeated'
}

/**
 * Deeper text than this overflows the stack of a serializer long before that of a parser
 * (docs/contract/requests.md#bounds). The others bound what reading a body costs at once, whatever it holds: a few tens
 * of milliseconds.
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

/** Up to this many characters a whole text is parsed at once: that is strict to the last escape and costs little. */
export const WHOLE_PARSE_MAX = 32_768

const MANY = Number.MAX_SAFE_INTEGER

/** For text that was accepted before. */
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

/** Not the JSON object that was expected; `message` is a sentence for the sender. */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError'
}

/** The text holds more than its limits allow; whether it is JSON was not found out. */
export class JsonLimitError extends JsonTextError {}
