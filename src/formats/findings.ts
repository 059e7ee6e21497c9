import type { z } from 'zod'

import type { Warning } from '../canonical/warning.ts'
import { inSentences, meantBranch } from '../contract/issue-sentence.ts'
import { invalidRequest, messageOf, pathText, valueAt } from '../contract/validate.ts'
import { nearestKey } from '../contract/nearest-key.ts'
import { cutText } from '../lib/text/cut-text.ts'

/**
 * The findings of a body's check: the faults of all fields, so that one response names them all, and warnings. The number is
 * bounded, since a hostile body can hold as many faults as it has bytes.
 */
export interface Findings {
  readonly warnings: readonly Warning[]
  /** No more faults are recorded, so further checks are a waste. */
  readonly full: boolean
  /** Records a fault; only the first one at each path is kept. */
  fault(path: readonly PropertyKey[], message: string): void
  warn(code: Warning['code'], path: readonly PropertyKey[], message: string): void
  /** Records the schema's faults of the value at `at`; returns false if there are any. */
  check(schema: z.ZodType, value: unknown, at: readonly PropertyKey[]): boolean
  /** Throws `invalid_request` naming every fault. */
  throwIfFaulty(): void
}

const FAULTS_MAX = 50
const WARNINGS_MAX = 50
const KEY_LENGTH_MAX = 80

export const startFindings = (): Findings => {
  const faults: { path: string; message: string }[] = []
  const warnings: Warning[] = []

  const fault = (at: readonly PropertyKey[], message: string): void => {
    if (faults.length >= FAULTS_MAX) return
    const path = pathText(at.map(shortKey))
    if (!faults.some((known) => known.path === path)) faults.push({ path, message })
  }

  return {
    warnings,
    get full() {
      return faults.length >= FAULTS_MAX
    },
    fault,
    warn(code, path, message) {
      if (warnings.length < WARNINGS_MAX) warnings.push({ code, field: pathText(path.map(shortKey)), message })
    },
    check(schema, value, at) {
      const outcome = schema.safeParse(value, inSentences)
      if (!outcome.success) for (const issue of outcome.error.issues) reportIssue(issue, { schema, value, at, inside: [] }, fault)
      return outcome.success
    },
    throwIfFaulty() {
      if (faults.length > 0) throw invalidRequest(faults)
    },
  }
}

/** A client's own text, cut to a length that fits in a message. */
export const shortText = (text: string): string => (text.length > KEY_LENGTH_MAX ? `${cutText(text, KEY_LENGTH_MAX)}...` : text)

const shortKey = (key: PropertyKey): PropertyKey => (typeof key === 'string' ? shortText(key) : key)

type Fault = (path: readonly PropertyKey[], message: string) => void

/** Reports an issue of zod as faults that a person can act on, with the unknown key, or the branch of the union that was meant. */
const reportIssue = (issue: z.core.$ZodIssue, { schema, value, at, inside }: Checked, fault: Fault): void => {
  const path = [...at, ...issue.path]
  const here = [...inside, ...issue.path]
  if (issue.code === 'unrecognized_keys') for (const key of issue.keys) fault([...path, key], unknownField(nearestKey(schema, here, key)))
  else if (issue.code === 'invalid_union') reportUnion(issue, { schema, value: valueAt(value, issue.path), at: path, inside: here }, fault)
  else fault(path, messageOf(issue, value))
}

const unknownField = (nearest: string | null): string => (nearest === null ? 'Unknown field.' : `Unknown field. Did you mean "${nearest}"?`)

interface Checked {
  readonly schema: z.ZodType
  readonly value: unknown
  readonly at: readonly PropertyKey[]
  /** The path from the schema to the value. */
  readonly inside: readonly PropertyKey[]
}

const reportUnion = (issue: z.core.$ZodIssueInvalidUnion, checked: Checked, fault: Fault): void => {
  const meant = meantBranch(issue.errors)
  if (meant === undefined) fault(checked.at, issue.message)
  else for (const inner of meant) reportIssue(inner, checked, fault)
}
