import { z } from 'zod'

import type { ClientDialect } from '../canonical/call.ts'
import type { FieldTable, RequestField } from '../request-fields/field.ts'
import { REQUEST_FIELDS } from '../request-fields/request-fields.ts'
import { SERVICE_FIELDS } from '../request-fields/service-fields.ts'
import { checkTaggedList } from './check-tagged-list.ts'
import type { Findings } from './findings.ts'

/** Everything that an interface asks of a request body, field by field. */
export interface RequestRules {
  readonly shape: ClientDialect
  /** By field name; the value is neither absent nor null. */
  readonly checks: ReadonlyMap<string, FieldCheck>
  /** Faults that lie between fields. */
  readonly checkTogether: CrossCheck
  /** Fields that a preset body may carry unused but an inference request may not: name to reason (docs/contract/responses.md#nothing-is-stored). */
  readonly refusedAtInference: ReadonlyMap<string, string>
  /** Fields that the reader of prompts checks. */
  readonly readLater: ReadonlySet<string>
  /** The known field that some server could take a name for; null for none. */
  readonly takenFor: (name: string) => string | null
}

export type FieldCheck = (value: unknown, findings: Findings) => void

/** A field's value; undefined where it is absent or null. */
export type FieldReader = (field: string) => unknown
export type CrossCheck = (field: FieldReader, findings: Findings) => void

export const requestRules = (shape: ClientDialect, checkTogether: CrossCheck = () => undefined): RequestRules => {
  const rows = Object.entries(REQUEST_FIELDS[shape])
  return {
    shape,
    checks: fieldChecks(REQUEST_FIELDS[shape]),
    checkTogether,
    refusedAtInference: new Map(rows.flatMap(([name, { refusal }]) => (refusal === undefined ? [] : [[name, refusal]]))),
    takenFor: namesWithoutCase([...rows.map(([name]) => name), ...SERVICE_FIELDS]),
    readLater: new Set(rows.flatMap(([name, { readLater }]) => (readLater === true ? [name] : []))),
  }
}

/** Servers that are written in Go read member names without regard to case, by the folding of Unicode. */
const namesWithoutCase = (names: readonly string[]): RequestRules['takenFor'] => {
  const known = new Set(names)
  const byFolded = new Map(names.map((name) => [folded(name), name]))
  return (name) => (known.has(name) ? null : (byFolded.get(folded(name)) ?? null))
}

const folded = (name: string): string => name.toUpperCase().toLowerCase()

export const fieldChecks = (table: FieldTable): ReadonlyMap<string, FieldCheck> =>
  new Map(
    Object.entries(table).flatMap(([name, row]) => {
      const check = checkOf(name, row)
      return check === null ? [] : [[name, check]]
    }),
  )

const checkOf = (name: string, { schema, items }: RequestField): FieldCheck | null => {
  if (items !== undefined) return (value, findings) => checkTaggedList(items, value, [name], findings)
  return schema === undefined ? null : (value, findings) => void findings.check(schema, value, [name])
}

/** A body with these fields. Any of them may be left out, and null counts as left out (docs/contract/requests.md#bodies). */
export const bodySchema = (table: FieldTable) =>
  z.looseObject(
    Object.fromEntries(Object.entries(table).flatMap(([name, { schema }]) => (schema === undefined ? [] : [[name, schema.nullish()]]))),
  )
