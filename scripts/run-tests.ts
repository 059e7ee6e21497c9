/** Runs the test runner and returns its counts and the result of each test. */
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
  /** Includes the names of the groups around the test. */
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** The reason of a failure, as the runner reported it; empty for other tests. */
  readonly failure: string
}

export interface TestRun extends TestCount {
  readonly results: readonly TestResult[]
}

/** The time limit of a test: it ends one that hangs, but does not fail one on a busy machine. */
const LIMIT_MS = 300_000
/** If the runner has printed its counts and does not exit, a failed test has left a handle open. */
const CLOSING_MS = 60_000
/** The last line that the runner prints. */
const RAN = /^Ran \d+ tests? across/m

/**
 * These tests wait for a browser half of the time, so four files run at once. They do not affect each other, so they need no costly
 * `--isolate`.
 */
const BROWSER_TESTS = 'dashboard/test'
const FOUR_AT_ONCE = ['--parallel=4', '--no-isolate']

/** `args`: the arguments of the runner; without any, all tests run. */
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
  // A process group of its own: a program that a failed test left running is ended with it, and cannot hold our output open for ever.
  const runner = spawn(process.execPath, ['test', ...flags, ...args], { stdio: ['ignore', 'inherit', 'pipe'], detached: true })
  const endAll = (signal: NodeJS.Signals): void => signalGroup(runner, signal)
  process.on('SIGINT', endAll).on('SIGTERM', endAll)
  let tail = ''
  let closing = setTimeout(() => {}, 0)
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
  // A runner that fails without a failed test could not load a file, or crashed.
  return { passed: count('pass'), failed: exitCode !== 0 && failed === 0 ? 1 : failed, skipped: count('skip'), results }
}

/** Returns the exit code after reading all output: the last lines may come after the exit. */
const codeOf = async (runner: ChildProcess): Promise<number> => {
  const closed = once(runner, 'close')
  const code = await new Promise<number>((resolve) => void runner.once('exit', (exitCode) => resolve(exitCode ?? 1)))
  signalGroup(runner, 'SIGKILL')
  // A program in another process group may still hold the pipe.
  await Promise.race([closed, delay(CLOSING_MS, undefined, { ref: false })])
  return code
}

const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // The group is empty: all its processes have ended.
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
        // The element repeats its message in its text, followed by the place. A test that timed out has no text.
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

/** The text inside a test case that did not pass. */
const OUTCOMES: Readonly<Record<string, TestResult['outcome']>> = { failure: 'failed', error: 'failed', skipped: 'skipped' }

/** The last line of every run. */
export const closingLine = ({ passed, failed, skipped }: TestCount): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

/** A failure may contain a whole page; its first lines say which expectation failed. */
const FAILURE_LINES = 40

/** Lists each failed test with its reason, since they are hard to find in the output of thousands of tests. */
export const printFailures = (results: readonly TestResult[], heading = 'Failed tests'): void => {
  const failed = results.filter(({ outcome }) => outcome === 'failed')
  if (failed.length > 0) console.log(`\n${heading}`)
  for (const { file, name, failure } of failed) {
    console.log(`\n${file}: ${name}`)
    for (const line of failure.trim().split('\n').slice(0, FAILURE_LINES)) console.log(`  ${line.slice(0, 300)}`)
  }
}
