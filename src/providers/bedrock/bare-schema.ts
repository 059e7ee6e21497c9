/** Reduces the schema of a tool for models that refuse unknown keys at its top level: "extraneous key [$defs] is not permitted". */
import { isObject } from '../../lib/json/json.ts'
import type { Growth } from '../../lib/json/json-size.ts'
import { googleSchema } from '../google/json-schema.ts'
import type { Losses } from '../losses/losses.ts'

type Schema = Readonly<Record<string, unknown>>

interface BareSchemaContext extends Pick<Losses, 'mapped'> {
  /** The growth of all schemas of the request when their references are written out. */
  readonly growth: Growth
}

/** References are written out, since there is no place for their definitions; a recursive one becomes any object. */
export const bareSchema = (schema: Schema, field: string, { growth, mapped }: BareSchemaContext): Schema => {
  const extra = Object.keys(schema).filter((key) => !KEPT.has(key))
  if (extra.length === 0) return schema
  const defines = extra.some((key) => DEFINITIONS.has(key))
  const written = defines ? googleSchema(schema, growth) : schema
  const kept = Object.fromEntries(Object.entries(isObject(written) ? written : schema).filter(([key]) => KEPT.has(key)))
  const recursive = isObject(written) && extra.some((key) => DEFINITIONS.has(key) && Object.hasOwn(written, key))
  const lost = [...extra.filter((key) => !SILENT.has(key)), ...(recursive ? ['schemas that name themselves'] : [])]
  if (lost.length > 0) mapped(field, `There is no place for ${lost.join(', ')} in a tool’s schema here; the rest of it was sent.`)
  return recursive ? (unreferenced(kept) as Schema) : kept
}

const unreferenced = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unreferenced)
  if (!isObject(value)) return value
  if (typeof value['$ref'] === 'string') return { type: 'object' }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, unreferenced(one)]))
}

const KEPT: ReadonlySet<string> = new Set(['type', 'properties', 'required'])
const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions'])
/** Keys that make no difference to the model. */
const SILENT: ReadonlySet<string> = new Set([
  ...DEFINITIONS,
  '$ref',
  '$schema',
  '$id',
  '$comment',
  'title',
  'description',
  'additionalProperties',
])
