import type { z } from 'zod'

import type { ClientDialect } from '../canonical/call.ts'
import type { Findings } from './findings.ts'
import { checkTaggedList, type TaggedList } from './tagged-list.ts'

/** Everything that an interface asks of a request body, field by field. */
export interface RequestRules {
  readonly shape: ClientDialect
  /** By field name; the value is neither absent nor null. */
  readonly checks: ReadonlyMap<string, FieldCheck>
  /** Faults that lie between fields. */
  readonly checkTogether: CrossCheck
  /** Fields that a preset body may carry unused but an inference request may not: name to reason (decision 7). */
  readonly refusedAtInference: ReadonlyMap<string, string>
}

export type FieldCheck = (value: unknown, findings: Findings) => void

/** A field's value; undefined where it is absent or null. */
export type FieldReader = (field: string) => unknown
export type CrossCheck = (field: FieldReader, findings: Findings) => void

type Fields = Readonly<Record<string, z.ZodType>>

export const requestRules = (
  shape: ClientDialect,
  fields: Fields,
  lists: Readonly<Record<string, TaggedList>>,
  more: { checkTogether?: CrossCheck; refusedAtInference?: Readonly<Record<string, string>> } = {},
): RequestRules => ({
  shape,
  checks: new Map([...schemaChecks(fields), ...listChecks(lists)]),
  checkTogether: more.checkTogether ?? (() => undefined),
  refusedAtInference: new Map(Object.entries(more.refusedAtInference ?? {})),
})

export const schemaChecks = (fields: Fields): [string, FieldCheck][] =>
  Object.entries(fields).map(([name, schema]) => [name, (value, findings) => findings.check(schema, value, [name])])

const listChecks = (lists: Readonly<Record<string, TaggedList>>): [string, FieldCheck][] =>
  Object.entries(lists).map(([name, list]) => [name, (value, findings) => checkTaggedList(list, value, [name], findings)])

/** Any field of a request may be left out, and null counts as left out (decision 5). */
export const leaveOut = <Shape extends Fields>(fields: Shape) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.nullish()])) as {
    [Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name]>>
  }
