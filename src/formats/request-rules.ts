import { z } from 'zod'

import type { ClientDialect } from '../canonical/call.ts'
import type { FieldTable, RequestField } from '../request-fields/field.ts'
import { REQUEST_FIELDS } from '../request-fields/request-fields.ts'
import { SERVICE_FIELDS } from '../request-fields/service-fields.ts'
import { checkTaggedList } from './check-tagged-list.ts'
import type { Findings } from './findings.ts'

/** All rules of an interface for a request body, field by field. */
export interface RequestRules {
  readonly shape: ClientDialect
  /** Checks by field name; the checked value is neither absent nor null. */
  readonly checks: ReadonlyMap<string, FieldCheck>
  /** Reports faults that involve several fields. */
  readonly checkTogether: CrossCheck
  /** Fields that a preset body may carry unused but an inference request may not: name to reason (docs/contract/responses.md#nothing-is-stored). */
  readonly refusedAtInference: ReadonlyMap<string, string>
  /** Fields that are checked later, by the reader of prompts. */
  readonly readLater: ReadonlySet<string>
  /** Returns the known field for which some server could take a name; null if there is none. */
  readonly takenFor: (name: string) => string | null
}

export type FieldCheck = (value: unknown, findings: Findings) => void

/** Returns a field's value; undefined if it is absent or null. */
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

/** Servers written in Go match member names case-insensitively, by Unicode case folding. */
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

const checkOf = (name: string, { schema, items, warning }: RequestField): FieldCheck | null => {
  const path = [name]
  if (warning !== undefined) return (_, findings) => findings.warn('unsupported_field', path, warning)
  if (items !== undefined) return (value, findings) => checkTaggedList(items, value, path, findings)
  return schema === undefined ? null : (value, findings) => void findings.check(schema, value, path)
}

/** The schema of a body with these fields. Any of them may be absent, and null counts as absent (docs/contract/requests.md#bodies). */
export const bodySchema = (table: FieldTable) =>
  z.looseObject(
    Object.fromEntries(Object.entries(table).flatMap(([name, { schema }]) => (schema === undefined ? [] : [[name, schema.nullish()]]))),
  )
