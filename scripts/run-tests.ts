/** Runs the test runner and answers what it counted, and what became of each test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { Parser } from 'htmlparser2'

export interface TestCount {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export interface TestResult {
  readonly file: string
  /** With the names of the groups around it. */
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** Why it failed, as the runner reported it; empty for the others. */
  readonly failure: string
}

export interface TestRun extends TestCount {
  readonly results: readonly TestResult[]
}

/** A test that hangs ends; one on a machine that does other work besides does not fail for it. */
const LIMIT_MS = 300_000
/** A runner that has printed its counts and does not end is held by a handle that a failed test left open. */
const CLOSING_MS = 60_000
/** The last line that the runner prints. */
const RAN = /^Ran \d+ tests? across/m

/** A file of these waits for a browser half of its time, so four run at once. Nothing of one reaches another, which `--isolate` would pay for. */
const BROWSER_TESTS = 'dashboard/test'
const FOUR_AT_ONCE = ['--parallel=4', '--no-isolate']

/** `args`: those of the runner; all tests without any. */
export const runTests = async (args: readonly string[]): Promise<TestRun> => {
  if (args.length > 0) return runOnce(args.every((path) => path.replace(/\/$/, '') === BROWSER_TESTS) ? [...FOUR_AT_ONCE, ...args] : args)
  const others = await runOnce([`--path-ignore-patterns=${BROWSER_TESTS}/**`])
  return joined(others, await runOnce([...FOUR_AT_ONCE, BROWSER_TESTS]))
}

const joined = (one: TestRun, other: TestRun): TestRun => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
  results: [...one.results, ...other.results],
})

const runOnce = async (args: readonly string[]): Promise<TestRun> => {
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-results-'))
  const report = join(directory, 'junit.xml')
  const flags = [`--timeout=${LIMIT_MS}`, '--reporter=junit', `--reporter-outfile=${report}`]
  // A group of its own: a program that a failed test left behind is ended with it, or it would hold our output open for ever.
  const runner = spawn(process.execPath, ['test', ...flags, ...args], { stdio: ['ignore', 'inherit', 'pipe'], detached: true })
  const endAll = (signal: NodeJS.Signals): void => signalGroup(runner, signal)
  process.on('SIGINT', endAll).on('SIGTERM', endAll)
  let [tail, closing] = ['', setTimeout(() => {}, 0)]
  runner.stderr.on('data', (piece: Buffer) => {
    process.stderr.write(piece)
    tail = (tail + piece.toString()).slice(-4000)
    clearTimeout(closing)
    if (RAN.test(tail)) closing = setTimeout(endAll, CLOSING_MS, 'SIGKILL')
  })
  const exitCode = await codeOf(runner)
  clearTimeout(closing)
  process.off('SIGINT', endAll).off('SIGTERM', endAll)
  const count = (word: string): number => Number(new RegExp(`^\\s*(\\d+) ${word}$`, 'm').exec(tail)?.[1] ?? 0)
  const failed = count('fail')
  const results = existsSync(report) ? resultsIn(readFileSync(report, 'utf8')) : []
  rmSync(directory, { recursive: true })
  // A runner that fails without a failed test could not load one, or crashed.
  return { passed: count('pass'), failed: exitCode !== 0 && failed === 0 ? 1 : failed, skipped: count('skip'), results }
}

/** Its exit code, once its output has been read: the last lines may come after its end. */
const codeOf = async (runner: ChildProcess): Promise<number> => {
  const closed = once(runner, 'close')
  const code = await new Promise<number>((resolve) => void runner.once('exit', (exitCode) => resolve(exitCode ?? 1)))
  signalGroup(runner, 'SIGKILL')
  // A program in a group of its own may still hold the pipe.
  await Promise.race([closed, delay(CLOSING_MS, undefined, { ref: false })])
  return code
}

const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // The group is empty: all of it has ended.
  }
}

const resultsIn = (xml: string): readonly TestResult[] => {
  const results: TestResult[] = []
  const changeLast = (change: (last: TestResult) => Partial<TestResult>): void => {
    const last = results.pop()
    if (last !== undefined) results.push({ ...last, ...change(last) })
  }
  let isInFailure = false
  const parser = new Parser(
    {
      onopentag(tag, { file = '', classname = '', name = '', message = '' }) {
        const outcome = OUTCOMES[tag]
        isInFailure = outcome === 'failed'
        if (tag === 'testcase')
          results.push({ file, name: `${classname.replaceAll(' > ', ' ')} ${name}`.trim(), outcome: 'passed', failure: '' })
        // The element repeats its message in its text, with the place behind it. One that ran out of time has no text.
        else if (outcome !== undefined) changeLast(() => ({ outcome, failure: message.endsWith('timed out') ? message : '' }))
      },
      ontext(text) {
        if (isInFailure) changeLast(({ failure }) => ({ failure: failure + text }))
      },
      onclosetag() {
        isInFailure = false
      },
    },
    { xmlMode: true },
  )
  parser.end(xml)
  return results
}

/** The text inside of a case that did not pass. */
const OUTCOMES: Readonly<Record<string, TestResult['outcome']>> = { failure: 'failed', error: 'failed', skipped: 'skipped' }

/** The last line of every run. */
export const closingLine = ({ passed, failed, skipped }: TestCount): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

/** A failure may hold a whole page; its first lines say which expectation failed. */
const FAILURE_LINES = 40

/** Names each failed test with its reason: in the output of thousands of tests they are hard to find. */
export const printFailures = (results: readonly TestResult[], heading = 'Failed tests'): void => {
  const failed = results.filter(({ outcome }) => outcome === 'failed')
  if (failed.length > 0) console.log(`\n${heading}`)
  for (const { file, name, failure } of failed) {
    console.log(`\n${file}: ${name}`)
    for (const line of failure.trim().split('\n').slice(0, FAILURE_LINES)) console.log(`  ${line.slice(0, 300)}`)
  }
}
