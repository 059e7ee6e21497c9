/**
 * A load generator in its own process: each connection sends its next request when the last answer is complete, or, with a pace, requests
 * are sent whether or not earlier ones were answered.
 * Reads a LoadPlan as one line of JSON from stdin, warms up, prints `warm`, waits for one more line, measures, and prints the LoadResult as
 * one line of JSON.
 */
import { createHistogram } from './histogram.ts'
import { answerText } from './answer-text.ts'

export interface LoadPlan {
  /** Used in turn. */
  readonly urls: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** Used in turn. */
  readonly bodies: readonly string[]
  readonly connections: number
  /** Requests a second, regardless of `connections`; null means as many as the connections manage. */
  readonly perSecond: number | null
  readonly warmupSeconds: number
  /** The measurement ends after this number of requests or, if that is null, after these seconds. */
  readonly seconds: number
  readonly requests: number | null
  readonly expect: Expectation
}

/** The check of a complete answer. Any other answer is a failure. */
export interface Expectation {
  readonly includes: readonly string[]
  readonly excludes: readonly string[]
  /** The whole text of the model, compared with the first answer of a run; null if it is not known. */
  readonly text: string | null
  /** The number of events; null if it may vary. */
  readonly events: number | null
  /** A pattern whose first match must be different in all answers of one URL (a version number). */
  readonly distinct: string | null
}

export interface LoadResult {
  readonly done: number
  readonly seconds: number
  readonly failures: number
  /** The first few failures, for people to read. */
  readonly samples: readonly string[]
  readonly latencyMs: { readonly p50: number; readonly p90: number; readonly p99: number; readonly max: number }
}

const MAX_FAILURES = 50
const MAX_SAMPLES = 3
/** Requests that are still open this long after the end are failures. */
const GRACE_MS = 10_000

const main = async (): Promise<void> => {
  const lines = readLines()
  const plan = JSON.parse((await lines.next()).value ?? '') as LoadPlan
  const seen = new Set<string>()
  const warmup = plan.warmupSeconds === 0 ? null : await runLoad(plan, plan.warmupSeconds, seen)
  if (warmup !== null && warmup.failures > 0) return finish(warmup)
  console.log('warm')
  await lines.next()
  finish(await runLoad(plan, plan.seconds, seen))
}

const finish = (result: LoadResult): void => {
  console.log(JSON.stringify(result))
  process.exit(0)
}

const runLoad = async (plan: LoadPlan, seconds: number, seen: Set<string>): Promise<LoadResult> => {
  const histogram = createHistogram()
  const bodies = plan.bodies.map((body) => Buffer.from(body))
  const samples: string[] = []
  const startedMs = performance.now()
  const endMs = startedMs + seconds * 1000
  let [started, done, failures, maxMs] = [0, 0, 0, 0]
  let lastDoneMs = startedMs

  const fail = (reason: string): void => {
    failures += 1
    if (samples.length < MAX_SAMPLES) samples.push(reason.slice(0, 400))
  }
  const send = async (): Promise<void> => {
    const number = started
    started += 1
    const url = plan.urls[number % plan.urls.length] ?? ''
    const body = bodies[number % bodies.length] ?? null
    const sentMs = performance.now()
    const response = await fetch(url, { method: 'POST', headers: plan.headers, body, redirect: 'manual' })
    const text = await response.text()
    lastDoneMs = performance.now()
    const fault = faultOf(response.status, text, url, number === 0, plan.expect, seen)
    if (fault !== null) return fail(fault)
    done += 1
    histogram.add(lastDoneMs - sentMs)
    maxMs = Math.max(maxMs, lastDoneMs - sentMs)
  }
  const requests = plan.requests ?? Number.POSITIVE_INFINITY
  // If the number of requests is fixed, all are sent, however long that takes.
  const mayGoOn = (): boolean => (plan.requests !== null || performance.now() < endMs) && started < requests && failures < MAX_FAILURES
  const trySend = (): Promise<void> => send().catch((thrown: unknown) => fail(String(thrown)))
  const connect = async (): Promise<void> => {
    while (mayGoOn()) await trySend()
  }
  const keepPace = async (perSecond: number): Promise<void> => {
    const open: Promise<void>[] = []
    while (mayGoOn()) {
      if (performance.now() >= startedMs + (started * 1000) / perSecond) open.push(trySend())
      else await Bun.sleep(1)
    }
    await Promise.all(open)
  }
  const watchdog = setTimeout(
    () => {
      fail(`${started - done - failures} requests were still open ${GRACE_MS / 1000} seconds after the end.`)
      finish(resultOf())
    },
    (seconds + (plan.requests ?? 0) / (plan.perSecond ?? Number.POSITIVE_INFINITY)) * 1000 + GRACE_MS,
  )
  const resultOf = (): LoadResult => ({
    done,
    failures,
    samples,
    seconds: (lastDoneMs - startedMs) / 1000,
    latencyMs: { p50: histogram.percentile(0.5), p90: histogram.percentile(0.9), p99: histogram.percentile(0.99), max: maxMs },
  })
  await (plan.perSecond === null ? Promise.all(Array.from({ length: plan.connections }, connect)) : keepPace(plan.perSecond))
  clearTimeout(watchdog)
  if (done === 0) fail('No request was answered.')
  return resultOf()
}

/** The reason why an answer is a failure, or null. */
const faultOf = (status: number, text: string, url: string, first: boolean, expect: Expectation, seen: Set<string>): string | null => {
  if (status !== 200) return `Status ${status}: ${text}`
  const missing = expect.includes.find((part) => !text.includes(part))
  if (missing !== undefined) return `The answer is incomplete, it lacks ${missing}: …${text.slice(-300)}`
  const extra = expect.excludes.find((part) => text.includes(part))
  if (extra !== undefined) return `The answer holds ${extra}: ${text}`
  if (first && expect.text !== null && answerText(text) !== expect.text)
    return `The answer's text is not the upstream's: ${answerText(text)}`
  const events = expect.events === null ? null : (text.match(/^data:/gm) ?? []).length
  if (events !== expect.events) return `The answer has ${events} events instead of ${expect.events}.`
  if (expect.distinct === null) return null
  const value = `${url} ${new RegExp(expect.distinct).exec(text)?.[1] ?? ''}`
  if (seen.has(value)) return `Two answers share ${value}`
  seen.add(value)
  return null
}

/** Reads stdin line by line. Its end means that the parent is gone. */
async function* readLines(): AsyncGenerator<string, void, undefined> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const piece of Bun.stdin.stream()) {
    const parts = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
  }
  process.exit(1)
}

await main()
