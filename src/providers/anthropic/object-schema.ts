/** The schema of a tool's input in a form that the API takes: that of an object, with `type` and without alternatives at the top level. */
import type { JsonObject } from '../../lib/json/json.ts'
import { joined, resolved, withWords } from '../tools/joined-schema.ts'

type Schema = Readonly<Record<string, unknown>>

/** Returns the same schema if nothing has to change. */
export const objectSchema = (given: Schema, field: string, mapped: (field: string, message: string) => void): Schema => {
  const whole = typeof given['$ref'] === 'string' ? resolved(given as JsonObject, given as JsonObject) : given
  const combined = COMBINATORS.filter((keyword) => Array.isArray(whole[keyword]))
  if (combined.length > 0) {
    mapped(field, `There is no place for ${combined.join(', ')} at the top of a tool’s schema; what they hold was sent as one object.`)
    const { schema, lost } = joined(whole as JsonObject, { left: JOINED_MAX })
    return { ...(Object.keys(lost).length === 0 ? schema : withWords(schema, lost)), type: 'object' }
  }
  const { type } = given
  if (type === 'object') return given
  if (type === undefined) return { type: 'object', ...given }
  mapped(field, `The input of a tool is an object; the schema was sent as that of one.`)
  return { ...given, type: 'object' }
}

/** The API takes every other keyword at the top. */
const COMBINATORS = ['allOf', 'anyOf', 'oneOf'] as const

/** The most properties that are carried from inner schemas to outer ones in one schema. */
const JOINED_MAX = 3000
