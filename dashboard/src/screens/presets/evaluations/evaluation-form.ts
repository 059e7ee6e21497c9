/** The values of the form for a new evaluation, and the request body made of them. */
import type { EvaluationRequest } from '../../../api/evaluations.ts'
import { readCount, readNumber } from '../../../typed-number.ts'
import { checkOf, type CheckRow, newCheck } from './check-rows.ts'
import type { ItemSet } from './item-set.ts'

export const SOURCES = { tests: 'Saved tests', recorded: 'Recorded requests', file: 'A file' } as const

export interface EvaluationForm {
  readonly version: number
  /** The version that is run for comparison. */
  readonly baseline: number | null
  readonly source: keyof typeof SOURCES
  /** The newest recorded requests, as many as `limit`. */
  readonly recorded: { readonly limit: string; readonly expectsAnswer: boolean }
  readonly set: ItemSet | null
  readonly checks: readonly CheckRow[]
  /** The percentage of items that must pass. */
  readonly passShare: string
  /** In dollars; empty for no budget. */
  readonly budget: string
  readonly name: string
}

export const newForm = (version: number, live: number): EvaluationForm => ({
  version,
  baseline: version === live ? null : live,
  source: 'tests',
  recorded: { limit: '100', expectsAnswer: false },
  set: null,
  checks: [newCheck([])],
  passShare: '100',
  budget: '1',
  name: '',
})

/** The request body, or a sentence that says what the form lacks. */
export const bodyOf = (form: EvaluationForm): EvaluationRequest | string => {
  const items = itemsOf(form)
  if (typeof items === 'string') return items
  const read = form.checks.map(checkOf)
  const fault = read.find((check) => typeof check === 'string')
  if (fault !== undefined) return fault
  const checks = read.filter((check) => typeof check !== 'string')
  if (checks.length === 0) return 'Add a check: it says which answers pass.'
  if (form.baseline === null && checks.some(({ type }) => type === 'pairwise'))
    return 'Choose a version beside it: the answers are compared with its answers.'
  const share = readNumber(form.passShare)
  if (share === null || share > 100) return 'Items that must pass: write a number from 0 to 100.'
  const budget = form.budget.trim() === '' ? null : readNumber(form.budget)
  if (form.budget.trim() !== '' && (budget === null || budget === 0)) return 'Budget: write an amount above 0, or leave it open.'
  return {
    version: form.version,
    ...(form.baseline === null ? {} : { baseline: form.baseline }),
    ...items,
    checks,
    min_pass_rate: share / 100,
    ...(budget === null ? {} : { budget_usd: budget }),
    ...(form.name.trim() === '' ? {} : { name: form.name.trim() }),
  }
}

const itemsOf = ({ source, recorded, set }: EvaluationForm): Pick<EvaluationRequest, 'items' | 'from_tests'> | string => {
  if (source === 'tests') return { from_tests: true }
  if (source === 'recorded') {
    const limit = readCount(recorded.limit)
    if (limit === null) return 'Requests at most: write a whole number above 0.'
    return { items: { from: 'generations', limit, expect_answer: recorded.expectsAnswer } }
  }
  if (set === null) return 'Choose a file.'
  return 'fault' in set ? set.fault : { items: [...set.items] }
}
