/** Filters as rows of the form, each a built-in filter or a pattern. */
import type { BuiltinSlug, FilterAction, FilterSide, ScanScope } from '../../../../src/contract/guardrail.ts'
import { ApiError } from '../../api/api-error.ts'
import type { Guardrail, GuardrailDraft } from '../../api/guardrails.ts'

export interface FilterRow {
  readonly id: number
  /** A built-in filter, or null for a pattern. */
  readonly slug: BuiltinSlug | null
  readonly pattern: string
  readonly label: string
  readonly action: FilterAction
  readonly side: FilterSide
  /** The form has no field for it, but preserves it. */
  readonly scanScope?: ScanScope | undefined
}

/** The rules as somebody has written them. */
export interface WrittenRules {
  readonly rows: readonly FilterRow[]
  /** JSON that is not valid yet, or null. The rows are those from before. */
  readonly unread: string | null
}

export const FILTER_ACTIONS: readonly FilterAction[] = ['block', 'redact', 'flag']
export const FILTER_SIDES: readonly FilterSide[] = ['input', 'output', 'both']
export const SCAN_SCOPES: readonly ScanScope[] = ['user_only', 'all_messages']

export const BUILTINS: readonly BuiltinSlug[] = [
  'email',
  'phone',
  'ssn',
  'credit-card',
  'ip-address',
  'secrets',
  'person-name',
  'address',
  'regex-prompt-injection',
]

export const rowsOf = ({ content_filter_builtins, content_filters }: Guardrail): readonly FilterRow[] => [
  ...(content_filter_builtins ?? []).map(({ slug, action, applies_to, scan_scope }, id) => ({
    id,
    slug,
    pattern: '',
    label: '',
    action,
    side: applies_to,
    scanScope: scan_scope,
  })),
  ...(content_filters ?? []).map(({ pattern, label, action, applies_to }, index) => ({
    id: 1000 + index,
    slug: null,
    pattern,
    label: label ?? '',
    action,
    side: applies_to,
  })),
]

/** The placeholder by which the service counts hits of a pattern, built as the service builds it. */
const placeholderOf = ({ label, action }: { label: string | null; action: FilterAction }): string =>
  label === null || label === '' ? (action === 'redact' ? '[REDACTED]' : '[BLOCKED]') : label.startsWith('[') ? label : `[${label}]`

export interface RowHits {
  readonly requests: number
  /** Other patterns have the same placeholder, and the number is the sum for all of them. */
  readonly isShared: boolean
}

/** By the id of the row: the requests of the last 24 hours in which the saved filter matched. */
export const hitsOf = ({ content_filter_builtins, content_filters, hits }: Guardrail): ReadonlyMap<number, RowHits> => {
  const rules = [
    ...(content_filter_builtins ?? []).map(({ label }, id) => [id, label] as const),
    ...(content_filters ?? []).map((filter, index) => [1000 + index, placeholderOf(filter)] as const),
  ]
  return new Map(
    rules.map(([id, rule]) => [
      id,
      {
        requests: hits?.find((hit) => hit.rule === rule)?.requests ?? 0,
        isShared: rules.some(([other, same]) => other !== id && same === rule),
      },
    ]),
  )
}

/** A pattern that is still empty is left out of the draft. */
const isDrafted = ({ slug, pattern }: FilterRow): boolean => slug === null && pattern !== ''

/** By the id of the row: why the pattern cannot be used. */
export type PatternFaults = ReadonlyMap<number, string>

export const PATTERN_PATH = /(?:^|\.)content_filters\[(\d+)\]\.pattern$/

/** Returns the faults in an error that belong to a row of the form. */
export const patternFaults = (rows: readonly FilterRow[], thrown: unknown): PatternFaults => {
  if (!(thrown instanceof ApiError)) return new Map()
  const drafted = rows.filter(isDrafted)
  return new Map(
    thrown.issues.flatMap(({ path, message }) => {
      const row = drafted[Number(PATTERN_PATH.exec(path)?.[1] ?? Number.NaN)]
      return row === undefined ? [] : [[row.id, message] as const]
    }),
  )
}

export const draftOf = (rows: readonly FilterRow[]): GuardrailDraft => {
  const builtins = rows.flatMap(({ slug, action, side, scanScope }) =>
    slug === null ? [] : [{ slug, action, applies_to: side, ...(scanScope === undefined ? {} : { scan_scope: scanScope }) }],
  )
  const patterns = rows
    .filter(isDrafted)
    .map(({ pattern, label, action, side }) => ({ pattern, label: label === '' ? null : label, action, applies_to: side }))
  return {
    content_filter_builtins: builtins.length === 0 ? null : builtins,
    content_filters: patterns.length === 0 ? null : patterns,
  } as GuardrailDraft
}
