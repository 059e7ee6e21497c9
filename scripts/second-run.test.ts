import { describe, expect, test } from 'bun:test'

import type { TestResult, TestRun } from './run-tests.ts'
import { runFailedAgain } from './second-run.ts'

const passed = (file: string, name: string): TestResult => ({ file, name, outcome: 'passed', failure: '' })
const failed = (file: string, name: string, failure = 'Expected 1.'): TestResult => ({ file, name, outcome: 'failed', failure })

const runOf = (results: readonly TestResult[]): TestRun => {
  const count = (outcome: TestResult['outcome']): number => results.filter((result) => result.outcome === outcome).length
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped'), results }
}

/** Returns these results, and records the arguments of each run. */
const runner = (results: readonly TestResult[]) => {
  const asked: (readonly string[])[] = []
  return {
    asked,
    run: (files: readonly string[]): Promise<TestRun> => {
      asked.push(files)
      return Promise.resolve(runOf(results))
    },
  }
}

describe('the second run of failed tests', () => {
  test('nothing is run again where nothing failed', async () => {
    const again = runner([])
    const first = runOf([passed('a', 'x')])
    expect(await runFailedAgain(first, again.run)).toEqual({ run: first, unsteady: [] })
    expect(again.asked).toEqual([])
  })

  test('a test that passes then has passed, and is unsteady with its first reason', async () => {
    const again = runner([passed('a', 'x'), passed('a', 'y')])
    const { run, unsteady } = await runFailedAgain(runOf([passed('a', 'x'), failed('a', 'y'), passed('b', 'z')]), again.run)
    expect(again.asked).toEqual([['a']])
    expect(unsteady).toEqual([failed('a', 'y')])
    expect(run).toEqual(runOf([passed('a', 'x'), passed('a', 'y'), passed('b', 'z')]))
  })

  test('a test that fails again has failed', async () => {
    const first = runOf([failed('a', 'x')])
    expect(await runFailedAgain(first, runner([failed('a', 'x', 'Expected 2.')]).run)).toEqual({ run: first, unsteady: [] })
  })

  test('where another test of the files fails then, nothing has passed', async () => {
    const first = runOf([passed('a', 'x'), failed('a', 'y')])
    expect(await runFailedAgain(first, runner([failed('a', 'x'), passed('a', 'y')]).run)).toEqual({ run: first, unsteady: [] })
  })

  test('a test that is not run again has failed', async () => {
    const first = runOf([failed('a', 'x')])
    expect(await runFailedAgain(first, runner([passed('a', 'y')]).run)).toEqual({ run: first, unsteady: [] })
  })

  test('failures in more than three files, and those that no test has, are final', async () => {
    const again = runner([])
    const many = runOf(['a', 'b', 'c', 'd'].map((file) => failed(file, 'x')))
    expect(await runFailedAgain(many, again.run)).toEqual({ run: many, unsteady: [] })
    const crashed = { ...runOf([failed('a', 'x')]), failed: 2 }
    expect(await runFailedAgain(crashed, again.run)).toEqual({ run: crashed, unsteady: [] })
    expect(again.asked).toEqual([])
  })
})
