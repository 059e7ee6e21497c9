/** Commands of models in sandboxes of an OpenSandbox server (docs/shell.md#opensandbox). */
import { afterEach, describe, expect, test } from 'bun:test'

import { call, infer, type Answer } from '../support/calls.ts'
import { startFakeSandboxes } from '../support/fake-open-sandbox.ts'
import { until, useServices } from '../support/started-service.ts'

const services = useServices()
const KEY = 'key-of-the-sandbox-server'
const server = await startFakeSandboxes(KEY)
const IMAGE = `work@sha256:${'b'.repeat(64)}`
const config = (key = KEY, url = server.url): string =>
  `tools: { shell: { kind: opensandbox, url: "${url}", api_key: "${key}", image: "${IMAGE}", price_per_minute: 1 } }\n`

type Json = Readonly<Record<string, unknown>>
interface Item extends Json {
  readonly output: readonly { readonly stdout: string; readonly stderr: string; readonly outcome: Json }[]
  readonly container_id: string
}

const service = await services.start({ config: config() })
afterEach(() => {
  expect(server.faults).toEqual([])
})

const DONE = { text: 'That is it.' }
const run = (commands: readonly string[], more: Json = {}): Json => ({ call: { name: 'service:shell', arguments: { commands, ...more } } })
const ask = (script: readonly Json[], more: Json = {}, at = service, key = at.inferenceKey): Promise<Answer> =>
  infer(
    at,
    { model: 'sandbox/agent', sandbox: { script }, input: 'Run it.', tools: [{ type: 'service:shell' }], ...more },
    { path: '/responses', key },
  )
const itemOf = ({ json }: Answer): Item => (json as { output: readonly Item[] }).output.find(({ type }) => type === 'service:shell') as Item

test('each command runs in a sandbox without a network, as an unprivileged user, which is gone after the request', async () => {
  const answer = await ask([run(['echo one', 'nothing', 'write a x']), DONE])
  expect(itemOf(answer)).toMatchObject({
    status: 'completed',
    output: [
      { stdout: 'one\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
      { stdout: '', stderr: 'not found\n', outcome: { type: 'exit', exit_code: 127 } },
      { outcome: { type: 'exit', exit_code: 0 } },
    ],
  })
  expect(server.made.at(-1)).toEqual({
    image: { uri: IMAGE },
    entrypoint: ['tail', '-f', '/dev/null'],
    timeout: 930,
    resourceLimits: { cpu: '1000m', memory: '512Mi' },
    networkPolicy: { defaultAction: 'deny', egress: [] },
    metadata: { 'patchbay.sandbox': 'true', 'patchbay.container': expect.stringMatching(/^patchbay-[0-9a-f]{40}$/) },
  })
  expect(server.commands.slice(-3)).toMatchObject(
    ['echo one', 'nothing', 'write a x'].map((command) => ({ command, cwd: '/work', uid: 65_534, gid: 65_534, timeout: 60_000 })),
  )
  await until(() => server.sandboxes.size === 0, 'the sandbox is gone')
  const { usage } = answer.json as { usage: { cost_details: { server_tool_cost: number } } }
  expect(usage.cost_details.server_tool_cost).toBeGreaterThan(0)
})

test('the key is sent only to the server, and appears in no sandbox, answer or log', async () => {
  const own = await services.start({ config: config() })
  const answer = await ask([run(['echo one']), DONE], {}, own)
  expect(server.inside.length).toBeGreaterThan(0)
  expect(JSON.stringify(server.inside)).not.toContain(KEY)
  expect(answer.text).not.toContain(KEY)
  expect(own.stdout() + own.stderr()).not.toContain(KEY)
})

test('requests of one session share a sandbox, which is kept while it is used; another workspace has its own', async () => {
  const session = { session_id: 'shared' }
  const first = itemOf(await ask([run(['write a kept']), DONE], session))
  const before = server.made.length
  const second = itemOf(await ask([run(['read a']), DONE], session))
  expect([second.output[0]?.stdout, second.container_id, server.made.length]).toEqual(['kept\n', first.container_id, before])
  expect(server.renewals.length).toBeGreaterThan(0)
  const made = await call(service, 'POST', '/workspaces', { body: { name: 'Other', slug: 'other' } })
  const { id } = (made.json as { readonly data: { readonly id: string } }).data
  const { key } = (await call(service, 'POST', '/keys', { body: { name: 'o', workspace_id: id } })).json as { readonly key: string }
  expect(itemOf(await ask([run(['read a']), DONE], session, service, key)).output[0]?.stderr).toBe('No such file\n')
  const parameters = { environment: { type: 'container_reference', container_id: first.container_id } }
  const foreign = await ask([run(['read a']), DONE], { tools: [{ type: 'service:shell', parameters }] }, service, key)
  expect(foreign.text).toContain('There is no container of this id.')
})

test('another gateway finds the sandbox of a session by its name, and an ended one is created again', async () => {
  const session = { session_id: 'found again' }
  const first = itemOf(await ask([run(['write a kept']), DONE], session))
  const before = server.made.length
  const name = [...server.sandboxes.keys()].at(-1) ?? ''
  const { id } = server.sandboxes.get(name) ?? { id: '' }
  expect(id).toBe(`sbx-${before}`)
  server.endAll()
  const later = itemOf(await ask([run(['read a']), DONE], session))
  expect([later.output[0]?.stderr, later.container_id, server.made.length]).toEqual(['No such file\n', first.container_id, before + 1])
})

test('each output is cut at its limit, between two characters, however long its lines are', async () => {
  expect(itemOf(await ask([run(['flood'], { max_output_length: 11 }), DONE])).output[0]).toMatchObject({
    stdout: 'ééééé',
    stderr: 'oops\n',
  })
  const most = itemOf(await ask([run(['flood']), DONE])).output[0]?.stdout ?? ''
  expect([Buffer.byteLength(most), most.replaceAll('é', '')]).toEqual([65_536, ''])
})

test('a command that exceeds its time is reported as such, and those after it do not run', async () => {
  const answer = await ask([run(['hang', 'echo after'], { timeout_ms: 300 }), DONE], { session_id: 'slow' })
  expect(itemOf(answer).output).toMatchObject([{ stdout: 'begun\n', outcome: { type: 'timeout' } }, { outcome: { type: 'timeout' } }])
  expect(answer.text).toContain(DONE.text)
})

test('if a client leaves, its command is interrupted and the sandbox of its session stays', async () => {
  const controller = new AbortController()
  const before = server.commands.length
  const body = {
    model: 'sandbox/agent',
    sandbox: { script: [run(['hang deaf']), DONE] },
    input: 'x',
    session_id: 'left',
    tools: [{ type: 'service:shell' }],
  }
  const left = fetch(`${service.url}/api/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.inferenceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: controller.signal,
  }).catch(() => null)
  await until(() => server.commands.slice(before).some(({ command }) => command === 'hang deaf'), 'the command runs')
  const id = `cmd-${server.commands.length}`
  controller.abort()
  await left
  await until(() => server.interrupted.includes(id), 'the command is ended')
})

describe('a server that refuses is a failed call, and the answer is completed', () => {
  test('its own words are reported', async () => {
    server.refusal = { status: 400, message: 'networkPolicy needs egress.image' }
    try {
      const answer = await ask([run(['echo one']), DONE])
      expect(itemOf(answer)).toMatchObject({ status: 'failed', error: expect.stringContaining('networkPolicy needs egress.image') })
      expect(answer.text).toContain(DONE.text)
    } finally {
      server.refusal = null
    }
    expect(itemOf(await ask([run(['echo two']), DONE])).output[0]).toMatchObject({ stdout: 'two\n' })
  })

  test('a server that is not there', async () => {
    const own = await services.start({ config: config(KEY, 'http://127.0.0.1:9/v1') })
    expect(itemOf(await ask([run(['echo one']), DONE], {}, own))).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('cannot be reached'),
    })
  })
})

test('a wrong key is a failed call that does not reveal it', async () => {
  const own = await services.start({ config: config('wrong-key') })
  const answer = await ask([run(['echo one']), DONE], {}, own)
  expect(itemOf(answer)).toMatchObject({ status: 'failed', error: expect.stringContaining('401') })
  expect(answer.text).not.toContain('wrong-key')
  server.forget()
})
