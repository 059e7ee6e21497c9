/**
 * Decides when a rollout reverts by itself (decisions/0066). A version is compared with the live one each time both have had a quarter more
 * requests than at the previous look. Failures: Fisher's exact test. Cost: Welch's test of the mean against that of the live version plus
 * the allowed increase. Look k may be wrong with probability α/(k(k+1)), shared by all comparisons of that look; summed over all looks that
 * is α, so looking often does not make a false alarm likelier.
 */
import type { HaltRule } from '../contract/halt-rule.ts'

/** Figures of the requests that a rollout gave to one version. Cost is in nano-dollars. */
export interface Sample {
  readonly version: number
  readonly requests: number
  readonly errors: number
  readonly costSum: number
  readonly costSquares: number
}

export interface HaltCheck {
  /** The number of looks at each version so far. */
  readonly looks: Readonly<Record<number, number>>
  /** Why the rollout must halt; null if there is no reason. */
  readonly reason: string | null
}

const GROWTH = 1.25
/** With fewer costs the mean is not close enough to a normal distribution for such small probabilities. */
const COSTS_MIN = 100

/** Null if it is too early for another look. */
export const checkForHalt = (rule: HaltRule, live: Sample, candidates: readonly Sample[], before: HaltCheck['looks']): HaltCheck | null => {
  const due = candidates.filter(
    ({ version, requests }) => Math.min(requests, live.requests) >= Math.ceil(rule.min_requests * GROWTH ** (before[version] ?? 0)),
  )
  if (due.length === 0) return null
  const looks = { ...before }
  const reasons: string[] = []
  for (const candidate of due) {
    const look = (before[candidate.version] ?? 0) + 1
    looks[candidate.version] = look
    const bound = (1 - rule.confidence) / (look * (look + 1)) / (candidates.length * METRICS)
    const failures = rule.errors ? failsMore(live, candidate) : null
    if (failures !== null && failures.p < bound) reasons.push(`${failures.sentence} (p = ${failures.p.toPrecision(2)}, look ${look})`)
    const cost = rule.cost_increase === null ? null : costsMore(live, candidate, rule.cost_increase)
    if (cost !== null && cost.p < bound) reasons.push(`${cost.sentence} (p = ${cost.p.toPrecision(2)}, look ${look})`)
  }
  return { looks, reason: reasons.length === 0 ? null : `${reasons.join('; ')}.` }
}

const METRICS = 2

interface Comparison {
  /** The probability of a difference this large by chance. */
  readonly p: number
  readonly sentence: string
}

const failsMore = (live: Sample, candidate: Sample): Comparison => ({
  p: fisher(candidate.errors, candidate.requests, live.errors, live.requests),
  sentence: `Version ${candidate.version} failed in ${candidate.errors} of ${candidate.requests} requests, version ${live.version} in ${live.errors} of ${live.requests}`,
})

const costsMore = (live: Sample, candidate: Sample, increase: number): Comparison | null => {
  if (Math.min(live.requests, candidate.requests) < COSTS_MIN) return null
  const factor = 1 + increase
  const its = momentsOf(candidate)
  const bound = momentsOf(live)
  const error = Math.sqrt(its.variance / candidate.requests + (factor * factor * bound.variance) / live.requests)
  const over = its.mean - factor * bound.mean
  const p = error === 0 ? (over > 0 ? 0 : 1) : upperTail(over / error)
  return {
    p,
    sentence: `A request of version ${candidate.version} costs $${dollarsOf(its.mean)}, one of version ${live.version} $${dollarsOf(bound.mean)}`,
  }
}

const momentsOf = ({ requests, costSum, costSquares }: Sample): { mean: number; variance: number } => {
  const mean = costSum / requests
  return { mean, variance: Math.max(0, (costSquares - requests * mean * mean) / (requests - 1)) }
}

const dollarsOf = (nanos: number): string => String(Number((nanos / 1e9).toPrecision(3)))

/** The probability that at least `k` of all failures fall on the `n` requests of one side, if both sides are alike. */
export const fisher = (k: number, n: number, otherK: number, otherN: number): number => {
  const failures = k + otherK
  const most = Math.min(failures, n)
  const logChoose = (of: number, some: number): number => logFactorial(of) - logFactorial(some) - logFactorial(of - some)
  // Summed from the largest term on: that of `k` itself may be too small for a number, and those between the two are not.
  const peak = Math.max(k, Math.floor(((failures + 1) * (n + 1)) / (n + otherN + 2)))
  const largest = Math.exp(logChoose(failures, peak) + logChoose(n + otherN - failures, n - peak) - logChoose(n + otherN, n))
  const growth = (at: number): number => ((failures - at) * (n - at)) / ((at + 1) * (otherN - failures + at + 1))
  let sum = largest
  for (let at = peak, term = largest; at < most && term >= sum * 1e-16; at += 1) sum += term *= growth(at)
  for (let at = peak - 1, term = largest; at >= k && term >= sum * 1e-16; at -= 1) sum += term /= growth(at)
  return Math.min(1, sum)
}

/** Stirling's series, which is exact enough from 10 on; below that, the product. */
const logFactorial = (n: number): number => {
  if (n < 10) {
    let product = 1
    for (let factor = 2; factor <= n; factor += 1) product *= factor
    return Math.log(product)
  }
  const x = n + 1
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5)
}

/** The upper tail of the normal distribution; relative error below 2e-7 (Numerical Recipes, erfc). */
const upperTail = (z: number): number => {
  const x = Math.abs(z) / Math.SQRT2
  const t = 1 / (1 + 0.5 * x)
  const series = COEFFICIENTS.reduceRight((sum, coefficient) => sum * t + coefficient, 0)
  const tail = 0.5 * t * Math.exp(-x * x + series)
  return z >= 0 ? tail : 1 - tail
}

const COEFFICIENTS = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277,
]
