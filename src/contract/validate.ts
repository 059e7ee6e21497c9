import type { z } from 'zod'

import { GatewayError } from '../errors.ts'
import { cutText } from '../lib/text/cut-text.ts'
import { isExactInteger } from '../lib/json/exact-json.ts'
import { inSentences, meantBranch } from './issue-sentence.ts'
import { knownKeys, nearestKey } from './nearest-key.ts'

/** The maximum number of faults reported for one body: enough to fix a call at once, and bounded for a hostile body. */
export const ISSUES_MAX = 8

/**
 * Returns the value as parsed by the schema, or throws `invalid_request` naming every faulty path: `error.metadata.issues` holds
 * `{path, message}` for programs, and the error's message says the same for people.
 */
export const validate = <Schema extends z.ZodType>(schema: Schema, value: unknown, at: readonly PropertyKey[] = []): z.output<Schema> => {
  const outcome = schema.safeParse(value, inSentences)
  if (outcome.success) return outcome.data
  const issues = outcome.error.issues.flatMap((issue) => faultsOf(schema, value, issue)).slice(0, ISSUES_MAX)
  throw invalidRequest(issues.map(({ path, message }) => ({ path: pathText([...at, ...path]), message })))
}

interface Fault {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Converts one issue to faults that a person can act on, with the unknown name, or the branch of a union that was meant. */
export const faultsOf = (schema: z.ZodType, value: unknown, issue: z.core.$ZodIssue): readonly Fault[] => {
  const { path } = issue
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, ISSUES_MAX)
      .map((key) => ({ path: [...path, cutText(key, NAME_SHOWN)], message: unknownMember(schema, path, key) }))
  }
  const meant = issue.code === 'invalid_union' ? meantBranch(issue.errors) : undefined
  if (meant !== undefined) return meant.flatMap((inner) => faultsOf(schema, value, { ...inner, path: [...path, ...inner.path] }))
  return [{ path, message: messageOf(issue, value) }]
}

/**
 * Returns the schema's message about the value. An integer that a double cannot hold is kept as text internally, but it is still
 * an integer to the client.
 */
export const messageOf = ({ path, message }: z.core.$ZodIssue, value: unknown): string =>
  isExactInteger(valueAt(value, path)) ? `The integer is out of range: use one up to ±${Number.MAX_SAFE_INTEGER}.` : message

/** The maximum length of a client's name in a message. */
export const NAME_SHOWN = 100

const unknownMember = (schema: z.ZodType, path: readonly PropertyKey[], key: string): string => {
  const nearest = nearestKey(schema, path, key)
  if (nearest !== null) return `Unknown field. Did you mean "${nearest}"?`
  const known = knownKeys(schema, path)
  return known.length === 0 ? 'Unknown field. None is allowed here.' : `Unknown field. Use one of ${known.join(', ')}.`
}

export const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, step) => (typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined), value)

export const invalidRequest = (issues: readonly { path: string; message: string }[]): GatewayError =>
  new GatewayError('invalid_request', sentenceOf(issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))), {
    metadata: { issues },
  })

/** An error with one fault of a body; the path is '' if the fault concerns no single member. */
export const invalidField = (path: string, message: string): GatewayError => invalidRequest([{ path, message }])

const sentenceOf = (faults: readonly string[]): string =>
  faults.map((fault, index) => (index < faults.length - 1 ? fault.replace(/\.$/, '') : fault)).join('; ')

/** `tools[2].function.name` */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    '',
  )
