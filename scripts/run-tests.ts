/** Runs the test runner and answers what it counted, and what became of each test. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
}

export interface TestRun extends TestCount {
  readonly results: readonly TestResult[]
}

/** A test that hangs ends; one on a machine that does other work besides does not fail for it. */
const LIMIT_MS = 120_000

export const runTests = async (args: readonly string[]): Promise<TestRun> => {
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-results-'))
  const report = join(directory, 'junit.xml')
  const flags = [`--timeout=${LIMIT_MS}`, '--reporter=junit', `--reporter-outfile=${report}`]
  const runner = spawn(process.execPath, ['test', ...flags, ...args], { stdio: ['ignore', 'inherit', 'pipe'] })
  let tail = ''
  runner.stderr.on('data', (piece: Buffer) => {
    process.stderr.write(piece)
    tail = (tail + piece.toString()).slice(-4000)
  })
  const exitCode = await new Promise<number>((resolve) => void runner.once('close', (code) => resolve(code ?? 1)))
  const count = (word: string): number => Number(new RegExp(`^\\s*(\\d+) ${word}$`, 'm').exec(tail)?.[1] ?? 0)
  const failed = count('fail')
  const results = existsSync(report) ? resultsIn(readFileSync(report, 'utf8')) : []
  rmSync(directory, { recursive: true })
  // A runner that fails without a failed test could not load one, or crashed.
  return { passed: count('pass'), failed: exitCode !== 0 && failed === 0 ? 1 : failed, skipped: count('skip'), results }
}

const resultsIn = (xml: string): readonly TestResult[] => {
  const results: TestResult[] = []
  const parser = new Parser(
    {
      onopentag(tag, { file = '', classname = '', name = '' }) {
        const last = results.at(-1)
        if (tag === 'testcase') results.push({ file, name: `${classname.replaceAll(' > ', ' ')} ${name}`.trim(), outcome: 'passed' })
        else if (last !== undefined && tag in OUTCOMES) results[results.length - 1] = { ...last, outcome: OUTCOMES[tag] ?? 'failed' }
      },
    },
    { xmlMode: true },
  )
  parser.end(xml)
  return results
}

/** What stands inside of a case that did not pass. */
const OUTCOMES: Readonly<Record<string, TestResult['outcome']>> = { failure: 'failed', error: 'failed', skipped: 'skipped' }

/** The last line of every run. */
export const closingLine = ({ passed, failed, skipped }: TestCount): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
