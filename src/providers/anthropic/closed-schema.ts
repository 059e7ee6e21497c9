/**
 * A JSON Schema as constrained decoding takes it: objects are closed, and keywords that it cannot hold a model to are
 * told to the model in the description instead. Source: the API's page on structured outputs and its SDK's helper.
 */
import { isObject } from '../../lib/json.ts'

type Schema = Record<string, unknown>

/** `loosened`: the keywords that are no longer enforced, each once. */
export const closeSchema = (schema: Readonly<Schema>): { readonly schema: Schema; readonly loosened: readonly string[] } => {
  const loosened = new Set<string>()
  return { schema: closed(schema, loosened), loosened: [...loosened] }
}

const closed = (schema: Readonly<Schema>, loosened: Set<string>): Schema => {
  const out: Schema = {}
  const told: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$schema') continue // names the dialect of the schema, constrains nothing
    if (isEnforced(keyword, value)) out[keyword === 'oneOf' ? 'anyOf' : keyword] = inside(keyword, value, loosened)
    else {
      loosened.add(keyword)
      told.push(`${keyword}: ${JSON.stringify(value)}`)
    }
  }
  if (isObjectSchema(schema)) {
    if (schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false) loosened.add('additionalProperties')
    out['additionalProperties'] = false
  }
  if (told.length > 0) {
    const description = typeof schema['description'] === 'string' ? `${schema['description']}\n` : ''
    out['description'] = `${description}(${told.join(', ')})`
  }
  return out
}

const isObjectSchema = ({ type, properties }: Readonly<Schema>): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(properties)

const isEnforced = (keyword: string, value: unknown): boolean => {
  if (keyword === 'minItems') return value === 0 || value === 1
  if (keyword === 'format') return typeof value === 'string' && FORMATS.has(value)
  return !UNENFORCED.has(keyword)
}

const UNENFORCED: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'contains',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
])

const FORMATS: ReadonlySet<string> = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])

/** Keywords whose value holds schemas: by name, in a list, or one. Every other value is data. */
const inside = (keyword: string, value: unknown, loosened: Set<string>): unknown => {
  if (BY_NAME.has(keyword) && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, isObject(schema) ? closed(schema, loosened) : schema]))
  if (!HOLDS_SCHEMAS.has(keyword)) return value
  if (Array.isArray(value)) return value.map((schema: unknown) => (isObject(schema) ? closed(schema, loosened) : schema))
  return isObject(value) ? closed(value, loosened) : value
}

const BY_NAME: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])
const HOLDS_SCHEMAS: ReadonlySet<string> = new Set(['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf'])
