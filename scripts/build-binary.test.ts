import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { buildBinary } from './build-binary.ts'

const ROOT = join(import.meta.dirname, '..')
const directory = mkdtempSync(join(tmpdir(), 'patchbay-binary-'))
const binary = join(directory, 'bin/patchbay')
const started: ChildProcess[] = []
beforeAll(() => buildBinary(binary), 120_000)
afterAll(async () => {
  await Promise.all(
    started.map((child) => {
      const ended = new Promise((resolve) => void child.once('close', resolve))
      child.kill('SIGTERM')
      return ended
    }),
  )
  rmSync(directory, { recursive: true, force: true })
})

/** Starts the service without any of our variables in its environment. */
const serve = async (program: string, name: string): Promise<{ readonly url: string; readonly pid: number }> => {
  const child = spawn(program, ['serve', '--port', '0', '--data-dir', join(directory, name)], {
    cwd: directory,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(child)
  return new Promise((resolve, reject) => {
    let shown = ''
    child.stdout.on('data', (piece: Buffer) => {
      shown += piece.toString()
      const url = /patchbay ready (\S+)\n/.exec(shown)?.[1]
      if (url !== undefined) resolve({ url, pid: child.pid ?? 0 })
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
  })
}

const settingsOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .filter((variable) => variable.startsWith('BUN_'))
    .sort()

describe('the executable', () => {
  test('runs the verbs of the command line, from any directory', () => {
    const { stdout, status } = spawnSync(binary, ['--version'], { cwd: '/', encoding: 'utf8' })
    expect([status, stdout]).toEqual([
      0,
      `${(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version}\n`,
    ])
  })

  test('gives the runtime the settings that an installed package gives it', async () => {
    const compiled = await serve(binary, 'compiled')
    const installed = await serve(join(ROOT, 'bin/patchbay'), 'installed')
    expect(settingsOf(compiled.pid)).toEqual(settingsOf(installed.pid))
    expect(settingsOf(compiled.pid)).toHaveLength(3)
    for (const path of ['/health/ready', '/docs', '/openapi.json', '/dashboard'])
      expect((await fetch(compiled.url + path)).status).toBe(200)
  })
})

/**
 * The acceptance tests that behave differently if the program is one file: it starts processes, a thread and workers, gets signals, and
 * reads a database beside itself. The others test the same code as everywhere; `TEST_PROGRAM=dist/patchbay npm test -- test/acceptance`
 * runs them all.
 */
const ACCEPTANCE = ['process', 'workers', 'file-parser', 'killed']

test('passes the acceptance tests of what is another where the program is one file', () => {
  const files = ACCEPTANCE.map((name) => `test/acceptance/${name}.test.ts`)
  const { status, stderr } = spawnSync(process.execPath, ['test', '--timeout=120000', ...files], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, TEST_PROGRAM: binary },
  })
  expect(status === 0 ? '' : stderr).toBe('')
}, 600_000)
