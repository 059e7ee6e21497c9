import type { z } from 'zod'

/** An option for `safeParse`: an issue without a sentence of its own gets one that says what to send. */
export const inSentences = { error: (issue: z.core.$ZodRawIssue): string | undefined => sentenceOf(issue) }

/** The values or types that a union accepts, for "Expected … or …". */
const expectations = (issues: readonly z.core.$ZodIssue[]): string[] =>
  issues.map((issue) => {
    if (issue.code === 'invalid_type') return typeName(issue.expected)
    if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value)).join(', ')
    return issue.message.replace(/\.$/, '')
  })

/**
 * Returns the branch of a union that the client meant: its faults are inside the value, or the value has its type. Undefined if
 * the value has the type of no branch.
 */
export const meantBranch = (branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined =>
  branches
    .filter((issues) => issues.every((issue) => issue.path.length > 0 || !OF_TYPE.has(issue.code)))
    .toSorted((one, other) => one.length - other.length)[0]

const OF_TYPE: ReadonlySet<string | undefined> = new Set(['invalid_type', 'invalid_value', 'invalid_union'])

const sentenceOf = (issue: z.core.$ZodRawIssue): string | undefined => {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue.expected, issue.input)
    case 'invalid_value':
      return `Must be ${oneOf(issue.values.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))))}.`
    case 'too_big':
      return outOfRange(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)
    case 'too_small':
      return outOfRange(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)
    case 'not_multiple_of':
      return `Must be a multiple of ${issue.divisor}.`
    case 'invalid_union':
      return unionSentence(issue)
    case 'invalid_format':
      return issue.format === 'regex' ? undefined : `Must be ${FORMAT_NAMES[issue.format] ?? `a valid ${issue.format}`}.`
    case 'invalid_key':
      return issue.issues[0]?.message
    case 'custom':
    case 'invalid_element':
    case 'unrecognized_keys':
    default:
      return undefined
  }
}

const wrongType = (expected: string, input: unknown): string => {
  if (input === undefined) return `Expected ${typeName(expected)}, but it is missing.`
  if (expected === 'int' && typeof input === 'number') return 'Expected a whole number.'
  if (expected === 'number' && typeof input === 'number') return 'Expected a finite number.'
  return `Expected ${typeName(expected)}, got ${typeName(input === null ? 'null' : Array.isArray(input) ? 'array' : typeof input)}.`
}

const unionSentence = (issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string => {
  if (issue.discriminator !== undefined && Array.isArray(issue['options']))
    return `Must be ${oneOf(issue['options'].map((option) => JSON.stringify(option)))}.`
  const branches = issue.errors ?? []
  const [first] = meantBranch(branches) ?? []
  if (first !== undefined) return first.path.length === 0 ? first.message : `${first.path.join('.')}: ${first.message}`
  const expected = [...new Set(branches.flatMap(expectations))]
  return expected.length === 0 ? 'The value is not valid.' : `Expected ${expected.join(' or ')}.`
}

const oneOf = (values: readonly string[]): string =>
  values.length < 2 ? values.join() : `one of ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`

const outOfRange = (origin: string, relation: string, bound: number | bigint): string => {
  const unit = UNITS[origin]
  if (unit === undefined) return `Must be ${relation} ${bound}.`
  return `Must have ${relation} ${bound} ${bound === 1 ? unit : `${unit}s`}.`
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item', map: 'member', object: 'member' }

const typeName = (type: string): string => TYPE_NAMES[type] ?? type

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  date: 'a date',
}

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  url: 'a URL',
  email: 'an email address',
  uuid: 'a UUID',
  datetime: 'an ISO 8601 instant',
}
