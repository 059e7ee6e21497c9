/** The schema of a tool's input in a form that the API takes: that of an object, with `type` and without alternatives at the top level. */
import { isObject, textsIn } from '../../lib/json.ts'
import { resolvePointer } from '../../lib/json-pointer.ts'

type Schema = Readonly<Record<string, unknown>>

/** Returns the same schema if nothing has to change. */
export const objectSchema = (schema: Schema, field: string, mapped: (field: string, message: string) => void): Schema => {
  const combined = COMBINATORS.filter((keyword) => Array.isArray(schema[keyword]))
  if (combined.length > 0) {
    mapped(field, `There is no place for ${combined.join(', ')} at the top of a tool’s schema; what they hold was sent as one object.`)
    return objectSchema(merged(schema, combined), field, mapped)
  }
  const { type } = schema
  if (type === 'object') return schema
  if (type === undefined) return { type: 'object', ...schema }
  mapped(field, `The input of a tool is an object; the schema was sent as that of one.`)
  return { ...schema, type: 'object' }
}

const COMBINATORS = ['allOf', 'anyOf', 'oneOf'] as const

type Combinator = (typeof COMBINATORS)[number]

/**
 * One schema with the properties of all branches, of which the first to define a name counts; required are only those that every valid
 * input has.
 */
const merged = (schema: Schema, combined: readonly Combinator[]): Schema => {
  const own = isObject(schema['properties']) ? schema['properties'] : {}
  const required = new Set(textsIn(schema['required']))
  const known: Schema[] = [own]
  for (const keyword of combined) {
    // A branch that is referred to many times adds nothing after the first time.
    const branches = [...new Set(branchesOf(schema[keyword], schema))]
    for (const { properties } of branches) if (isObject(properties)) known.push(properties)
    const names = branches.map((branch) => new Set(textsIn(branch['required'])))
    const [first = new Set(), ...others] = names
    const held =
      keyword === 'allOf' ? names.flatMap((each) => [...each]) : [...first].filter((name) => others.every((each) => each.has(name)))
    for (const name of held) required.add(name)
  }
  const properties = new Map(known.toReversed().flatMap((each) => Object.entries(each)))
  const rest = Object.fromEntries(Object.entries(schema).filter(([name]) => !combined.some((keyword) => keyword === name)))
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.size === 0 ? {} : { required: [...required] }),
  }
}

const branchesOf = (list: unknown, root: Schema): readonly Schema[] =>
  (Array.isArray(list) ? (list as unknown[]) : []).flatMap((branch): readonly Schema[] => {
    if (!isObject(branch)) return []
    const target = typeof branch['$ref'] === 'string' ? resolvePointer(root, branch['$ref']) : branch
    return target === null ? [] : [target]
  })
