/** Filters as the form has them: one row each, built-in or a pattern. */
import type { BuiltinSlug, FilterAction, FilterSide } from '../../../../src/contract/guardrail.ts'
import type { Guardrail, GuardrailDraft } from '../../api/guardrails.ts'

export interface FilterRow {
  readonly id: number
  /** A built-in filter, or null for a pattern. */
  readonly slug: BuiltinSlug | null
  readonly pattern: string
  readonly label: string
  readonly action: FilterAction
  readonly side: FilterSide
}

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
  ...(content_filter_builtins ?? []).map(({ slug, action, applies_to }, id) => ({
    id,
    slug,
    pattern: '',
    label: '',
    action,
    side: applies_to,
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

export const draftOf = (rows: readonly FilterRow[]): GuardrailDraft => {
  const builtins = rows.flatMap(({ slug, action, side }) => (slug === null ? [] : [{ slug, action, applies_to: side, label: undefined }]))
  const patterns = rows.flatMap(({ slug, pattern, label, action, side }) =>
    slug !== null || pattern === '' ? [] : [{ pattern, label: label === '' ? null : label, action, applies_to: side }],
  )
  return {
    content_filter_builtins: builtins.length === 0 ? null : builtins.map(({ slug, action, applies_to }) => ({ slug, action, applies_to })),
    content_filters: patterns.length === 0 ? null : patterns,
  } as GuardrailDraft
}
