import type { z } from 'zod'

import { GatewayError } from '../errors.ts'

/** How many faults of one body are told: enough to fix a call in one go, bounded for a hostile one. */
const ISSUES_MAX = 8

/**
 * The value, as the schema says, or `invalid_request` naming every faulty path: `error.metadata.issues` holds
 * `{path, message}` for programs, the message of the error the same for people.
 */
export const validate = <Schema extends z.ZodType>(schema: Schema, value: unknown, at: readonly PropertyKey[] = []): z.output<Schema> => {
  const outcome = schema.safeParse(value)
  if (outcome.success) return outcome.data
  throw invalidRequest(
    outcome.error.issues.slice(0, ISSUES_MAX).map((issue) => ({ path: pathText([...at, ...issue.path]), message: issue.message })),
  )
}

export const invalidRequest = (issues: readonly { path: string; message: string }[]): GatewayError =>
  new GatewayError('invalid_request', issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '), {
    metadata: { issues },
  })

/** `tools[2].function.name` */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    '',
  )
