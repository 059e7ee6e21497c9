/** Sums up the results of an evaluation, with confidence intervals. */
import type { Check, EvaluationResource, Outcome } from '../../contract/evaluation.ts'
import type { ItemResult } from '../../storage/presets/evaluation-items.ts'

type Summary = EvaluationResource['summary']
type SideSummary = Summary['version']
type Interval = NonNullable<SideSummary['pass_rate']>

/** The quantile of the normal distribution for a confidence of 95 %. */
const Z = 1.959964

export const summaryOf = (results: readonly ItemResult[], checks: readonly Check[]): Summary => {
  const pairs = results.flatMap(({ answer, baseline }) => (baseline === null ? [] : [{ answer, baseline }]))
  const preferences = results.flatMap(({ preference }) => (preference === null ? [] : [preference]))
  const count = (wanted: string): number => preferences.filter((one) => one === wanted).length
  return {
    version: sideOf(
      results.map(({ answer }) => answer),
      checks,
    ),
    baseline:
      pairs.length === 0
        ? null
        : sideOf(
            pairs.map(({ baseline }) => baseline),
            checks,
          ),
    difference: differenceOf(pairs.map(({ answer, baseline }) => Number(answer.passed) - Number(baseline.passed))),
    preference: preferences.length === 0 ? null : { wins: count('win'), losses: count('loss'), ties: count('tie') },
  }
}

const sideOf = (outcomes: readonly Outcome[], checks: readonly Check[]): SideSummary => {
  const passed = outcomes.filter((outcome) => outcome.passed).length
  const cost = outcomes.reduce((sum, outcome) => sum + outcome.cost, 0)
  const n = outcomes.length
  return {
    passed,
    failed: n - passed,
    errors: outcomes.filter(({ error }) => error !== null).length,
    pass_rate: wilson(passed, n),
    cost,
    cost_per_item: n === 0 ? null : cost / n,
    total_ms_mean: n === 0 ? null : outcomes.reduce((sum, { total_ms }) => sum + total_ms, 0) / n,
    checks: checks.map(({ type }, at) => {
      const verdicts = outcomes.flatMap((outcome) => outcome.checks[at] ?? [])
      return { type, passed: verdicts.filter((verdict) => verdict.passed).length, of: verdicts.length }
    }),
  }
}

/** Wilson's score interval: it stays between 0 and 1 even if all or none passed. */
const wilson = (passed: number, n: number): Interval | null => {
  if (n === 0) return null
  const rate = passed / n
  const spread = Z * Math.sqrt((rate * (1 - rate)) / n + (Z * Z) / (4 * n * n))
  const scale = 1 + (Z * Z) / n
  const middle = rate + (Z * Z) / (2 * n)
  // Rounding may leave a bound beside the rate where all or none passed.
  return {
    value: rate,
    low: Math.min(rate, Math.max(0, (middle - spread) / scale)),
    high: Math.max(rate, Math.min(1, (middle + spread) / scale)),
  }
}

/** The mean of the differences item by item, which is possible because both sides have the same items. */
export const differenceOf = (differences: readonly number[]): Interval | null => {
  const n = differences.length
  if (n < 2) return null
  const mean = differences.reduce((sum, one) => sum + one, 0) / n
  const variance = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (n - 1)
  const spread = Z * Math.sqrt(variance / n)
  return { value: mean, low: Math.max(-1, mean - spread), high: Math.min(1, mean + spread) }
}
