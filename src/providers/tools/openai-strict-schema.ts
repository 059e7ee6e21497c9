/**
 * The limits of OpenAI's strict mode on a JSON Schema: a request that exceeds them is refused. Source: its guide to structured outputs,
 * "Supported schemas". Messages clients expect answers that are held to their schema, which at OpenAI takes that mode.
 */
import type { ClientDialect } from '../../canonical/call.ts'
import type { OutputFormat, Tool } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import { isObject, type JsonObject, listOf } from '../../lib/json/json.ts'
import { wordSet } from '../../lib/text/word-set.ts'
import type { Losses } from '../losses/losses.ts'
import { withInnerSchemas } from './inner-schemas.ts'

/** Says whether the root is an object, and every object is closed and requires all its properties. */
export const fitsStrictMode = (schema: unknown): boolean => isObject(schema) && schema['type'] === 'object' && fits(schema, DEPTH_MAX)

const DEPTH_MAX = 10

const fits = (schema: unknown, depth: number): boolean => {
  if (!isObject(schema) || depth === 0) return false
  const { properties, required, format } = schema
  if (!Object.keys(schema).every((keyword) => KEYWORDS.has(keyword))) return false
  if (typeof format === 'string' && !FORMATS.has(format)) return false
  if (schema['type'] === 'object' || properties !== undefined) {
    if (schema['additionalProperties'] !== false || !isObject(properties)) return false
    const names = new Set(listOf(required))
    if (!Object.keys(properties).every((name) => names.has(name))) return false
  }
  return inside(schema).every((one) => fits(one, depth - 1))
}

const inside = ({ properties, $defs, definitions, items, anyOf }: Readonly<Record<string, unknown>>): unknown[] => [
  ...[properties, $defs, definitions].flatMap((named) => (isObject(named) ? Object.values(named) : [])),
  ...(items === undefined ? [] : [items]),
  ...listOf(anyOf),
]

const KEYWORDS: ReadonlySet<string> = wordSet(`
  type properties required additionalProperties items enum const anyOf $ref $defs definitions title description pattern
  format multipleOf minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum
`)

const FORMATS: ReadonlySet<string> = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'])

/**
 * Tools of a Messages client that are held to their schemas: Claude's API leaves properties optional in its strict mode, and this service
 * closes objects for it. An object that is only open is closed here too; calls of any other schema are not held to it, with a warning.
 */
export const heldTools = (tools: readonly Tool[], dialect: ClientDialect, { mapped }: Pick<Losses, 'mapped'>): readonly Tool[] => {
  if (dialect !== 'messages') return tools
  return tools.map((tool, index) => {
    if (tool.type !== 'function' || tool.strict !== true || fitsStrictMode(tool.parameters)) return tool
    const closed = isObject(tool.parameters) ? closedObjects(tool.parameters as JsonObject) : {}
    if (fitsStrictMode(closed)) return { ...tool, parameters: closed }
    const why = 'each object has to be closed and to require all its properties'
    mapped(`tools[${index}].strict`, `This provider does not hold calls to a schema like that of ${tool.name}: ${why}.`)
    const { strict: _, ...loose } = tool
    return loose
  })
}

const closedObjects = (schema: JsonObject): JsonObject =>
  withInnerSchemas(schema, (one) => {
    if (one['type'] !== 'object') return one
    const { properties = {}, additionalProperties = false, required = [] } = one
    return { ...one, properties, required, additionalProperties }
  })

/**
 * Sets `strict` on the format if the client's dialect leaves it unsaid and the schema fits; warns about a schema that cannot be enforced.
 */
export const heldFormat = (format: OutputFormat, dialect: ClientDialect, warn: (warning: Warning) => void): OutputFormat => {
  if (dialect !== 'messages' || format.type !== 'json-schema' || format.strict !== undefined) return format
  if (fitsStrictMode(format.schema)) return { ...format, strict: true }
  warn({
    code: 'mapped_field',
    field: 'output_config.format',
    message: 'This provider does not enforce a schema like this one: each object has to be closed and to require all its properties.',
  })
  return format
}
