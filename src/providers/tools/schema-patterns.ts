/**
 * Tells the model in words which patterns a text must match, where the provider does not take them in the schema of a tool: one such
 * pattern in one of many tools fails every request. Clients write them for JavaScript, as Claude Code does for its tool `Artifact`
 * ("'^(?!__.*__$)[^\p{Cc}…]{1,200}$' is not a 'regex'") (decisions/0253).
 */
import { isMap, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { withInnerSchemas } from './inner-schemas.ts'

/**
 * The patterns that a provider takes. `python`: what Python's `re` compiles, with which OpenAI checks schemas. `without-lookaround`: of
 * these, none that looks around. `grammar`: what llama.cpp can turn into a grammar.
 */
export type PatternForm = 'any' | 'python' | 'without-lookaround' | 'grammar'

/** Returns the same schema if all its patterns are taken. */
export const withPatternsInWords = (schema: JsonObject, form: PatternForm): JsonObject =>
  form === 'any' ? schema : withInnerSchemas(schema, (one, before) => inWords(one, before, form))

/** The limit of the words beside a schema; without it a pattern of any length would be checked, and said again. */
const LENGTH_MAX = 8000

/** `before` is the schema as it was written: `schema` has its inner schemas already with words. */
const inWords = (schema: JsonObject, before: JsonObject, form: PatternForm): JsonObject => {
  const { pattern, patternProperties } = schema
  const lost: JsonObject = {
    ...(typeof pattern === 'string' && !isTaken(pattern, form) ? { pattern } : {}),
    ...(isMap(patternProperties) && !areTaken(patternProperties, form) ? { patternProperties } : {}),
    // Without its pattern a condition would hold for everything, so that nothing could satisfy its negation.
    ...(schema['not'] === before['not'] ? {} : membersOf(before, ['not'])),
    ...(schema['if'] === before['if'] ? {} : membersOf(before, ['if', 'then', 'else'])),
  }
  const opened = withOneOrMore(schema, before)
  if (Object.keys(lost).length === 0) return opened
  const kept = Object.fromEntries(Object.entries(opened).filter(([keyword]) => !Object.hasOwn(lost, keyword)))
  const words = Object.entries(lost).map(([keyword, value]) => `${keyword}: ${JSON.stringify(value)}`)
  // An object that may have no other names than those of the lost patterns is opened, since no name would be left.
  if (lost['patternProperties'] !== undefined && kept['additionalProperties'] === false) delete kept['additionalProperties']
  return { ...kept, ...described(kept['description'], `(${words.join(', ')})`) }
}

/** Alternatives of which one lost its pattern may all hold at once. */
const withOneOrMore = (schema: JsonObject, before: JsonObject): JsonObject => {
  const { oneOf, ...rest } = schema
  return oneOf === undefined || oneOf === before['oneOf'] || rest['anyOf'] !== undefined ? schema : { ...rest, anyOf: oneOf }
}

const membersOf = (schema: JsonObject, keywords: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => keywords.includes(keyword)))

const areTaken = (patternProperties: JsonObject, form: PatternForm): boolean =>
  Object.keys(patternProperties).every((name) => isTaken(name, form))

const described = (before: JsonValue | undefined, words: string): { description?: JsonValue } => {
  if (words.length > LENGTH_MAX) return before === undefined ? {} : { description: before }
  return { description: typeof before === 'string' && before !== '' ? `${before}\n${words}` : words }
}

const isTaken = (pattern: string, form: PatternForm): boolean => {
  if (form === 'any') return true
  if (pattern.length > LENGTH_MAX) return false
  if (form === 'grammar') return GRAMMAR.test(pattern)
  return PYTHON.test(pattern) && isEachNamedOnce(pattern) && (form === 'python' || !PYTHON_ALONE.test(pattern))
}

/**
 * A grammar expresses patterns that are anchored on both sides, escape no letters and nothing in a set, and have no groups of other kinds
 * than `(?:`.
 */
const GRAMMAR = /^\^(?:\\[.^$()[\]{}|*+?]|\[(?:\^|(?!\^))[^[\]\\]+\]|\((?:(?!\?)|\?:)|[^\\[(])*\$$/

/**
 * The form of patterns that Python compiles, whether they were written for it or for JavaScript. It knows no `\p`, `\k`, `\c` or `\u{…}`,
 * names groups by `?P`, begins a set with `]`, takes none like `\w` for the end of a range, and looks behind only for a fixed length,
 * which is recognised here only of plain characters. No character is taken in two ways, so that no pattern takes long.
 */
const PYTHON = new RegExp(
  `^(?:\\(\\?[imsx]+\\))?(?:${[
    String.raw`\\(?:ESCAPE|[ABZ])`,
    String.raw`\[(?:\^|(?!\^))(?:-(?=\\[dDsSwW]))?(?:[^\]\\-]|-(?!\\[dDsSwW])|\\(?:(?![dDsSwW]-[^\]])ESCAPE))+\]`,
    String.raw`\((?:(?!\?)|\?(?:[:=!]|P<[A-Za-z_]\w*>|<[=!](?=[^\\[\](){}|*+?]*\))|[imsx]+:))`,
    String.raw`[^\\[(]`,
  ].join('|')})*$`.replaceAll('ESCAPE', String.raw`(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|[^a-zA-Z1-9]|[1-7](?!\d)|[bdDsSwWafnrtv])`),
)

/** Python takes no name for two groups. */
const isEachNamedOnce = (pattern: string): boolean => {
  const names = pattern.match(/\(\?P<\w+>/g) ?? []
  return new Set(names).size === names.length
}

/** Engines that do not look around have no references to groups either, no `\0`, no `\Z`, and other flags. */
const PYTHON_ALONE = /\(\?<?[=!]|\(\?[a-z]+\)|\\[0-9Z]/
