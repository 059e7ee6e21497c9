/** The workflow that docs/presets-as-code.md shows, run step by step as a shell would. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'bun:test'
import { parse } from 'yaml'

import { call } from '../support/calls.ts'
import { useServices } from '../support/started-service.ts'

const ROOT = join(import.meta.dir, '../..')
const services = useServices()

const service = await services.start()

interface Step {
  readonly run?: string
  readonly if?: string
}

const page = readFileSync(join(ROOT, 'docs/presets-as-code.md'), 'utf8')
const workflow = /```yaml\n(# \.github\/workflows[\s\S]*?)```/.exec(page)?.[1] ?? ''
const { steps } = (parse(workflow) as { jobs: { presets: { steps: Step[] } } }).jobs.presets

/** The steps whose condition holds for the event, joined as one script that stops at the first failure. */
const scriptOf = (event: string): string =>
  steps.flatMap(({ run, if: when }) => (run !== undefined && (when === undefined || when.includes(`'${event}'`)) ? [run] : [])).join('\n')

const runIn = (directory: string, event: string): Promise<{ code: number | null; output: string }> => {
  const programs = join(directory, 'programs')
  mkdirSync(programs, { recursive: true })
  for (const [name, script] of [
    ['npx', `shift; exec ${join(ROOT, 'bin/patchbay')} "$@"`],
    ['npm', 'exit 0'],
  ] as const) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(programs, name), 0o755)
  }
  const { PATH = '', HOME = '' } = process.env
  const env = {
    PATH: `${programs}:${PATH}`,
    HOME,
    GITHUB_SHA: 'abc123',
    PATCHBAY_URL: service.url,
    PATCHBAY_MANAGEMENT_KEY: service.managementKey,
  }
  const child = spawn('sh', ['-e', '-c', scriptOf(event)], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (piece: string) => (output += piece))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

test('the workflow of the docs shows a change, applies it once, and fails on drift', async () => {
  const directory = services.directory()
  mkdirSync(join(directory, 'presets'))
  writeFileSync(join(directory, 'presets/in-ci.yaml'), 'config:\n  model: sandbox/echo\n')
  const served = async () => (await call(service, 'GET', '/presets/in-ci')).status

  expect(await runIn(directory, 'pull_request')).toEqual({ code: 0, output: 'would be made: preset in-ci\n' })
  expect(await served()).toBe(404)
  expect(await runIn(directory, 'push')).toEqual({ code: 0, output: 'made: preset in-ci\n' })
  expect(await served()).toBe(200)
  expect((await runIn(directory, 'push')).output).toContain('nothing to send')
  expect((await runIn(directory, 'schedule')).code).toBe(0)
  await call(service, 'POST', '/presets/in-ci/responses', { body: { model: 'sandbox/lorem' } })
  const drift = await runIn(directory, 'schedule')
  expect(drift.code).toBe(1)
  expect(drift.output).toContain('changed on the service: preset in-ci')
})
