/** Runs the test runner and answers what it counted. */
import { spawn } from 'node:child_process'

export interface TestCount {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** A test that hangs ends; one on a machine that does other work besides does not fail for it. */
const LIMIT_MS = 120_000

export const runTests = async (args: readonly string[]): Promise<TestCount> => {
  const runner = spawn(process.execPath, ['test', `--timeout=${LIMIT_MS}`, ...args], { stdio: ['ignore', 'inherit', 'pipe'] })
  let tail = ''
  runner.stderr.on('data', (piece: Buffer) => {
    process.stderr.write(piece)
    tail = (tail + piece.toString()).slice(-4000)
  })
  const exitCode = await new Promise<number>((resolve) => void runner.once('close', (code) => resolve(code ?? 1)))
  const count = (word: string): number => Number(new RegExp(`^\\s*(\\d+) ${word}$`, 'm').exec(tail)?.[1] ?? 0)
  const failed = count('fail')
  // A runner that fails without a failed test could not load one, or crashed.
  return { passed: count('pass'), failed: exitCode !== 0 && failed === 0 ? 1 : failed, skipped: count('skip') }
}

/** The last line of every run. */
export const closingLine = ({ passed, failed, skipped }: TestCount): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
