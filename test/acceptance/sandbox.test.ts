/** Commands of models, in Docker containers or at a service of the operator (docs/shell.md). */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'

import { type Answer, call, conversationOf, type Dialect, infer, PATHS } from '../support/calls.ts'
import { startFakeEngine } from '../support/fake-engine.ts'
import { readStream } from '../support/client-stream.ts'
import { listenForTests } from '../support/listen.ts'
import { FINISH_CHUNK, proseChunk, startFakeUpstream } from '../support/fake-upstream.ts'
import { until, useServices, type StartedService } from '../support/started-service.ts'

const services = useServices()
const engine = await startFakeEngine()
const provider = await startFakeUpstream()

const IMAGE = `sandbox@sha256:${'a'.repeat(64)}`
const SECRET = 'a secret of the two of us'
type Json = Readonly<Record<string, unknown>>

const DONE = { text: 'That is it.' }
const run = (...commands: string[]): Json => ({ call: { name: 'service:shell', arguments: { commands } } })
const SHELL = { type: 'service:shell' }
const BASH = { type: 'service:bash', engine: 'service' }

/** The requests to the operator's own service, and how it answers them; null means never. */
let asked: { readonly headers: Readonly<Record<string, unknown>>; readonly text: string }[] = []
let own: (body: Json) => readonly [status: number, body: Json] | null = () => [500, {}]
const ownService = createServer((request, response) => {
  let text = ''
  request.on('data', (piece) => (text += String(piece)))
  request.on('end', () => {
    asked.push({ headers: request.headers, text })
    const answer = own(JSON.parse(text) as Json)
    if (answer === null) return
    const [status, body] = answer
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
})
const ownPort = await listenForTests(ownService)

let docker: StartedService
let http: StartedService
let none: StartedService

beforeAll(async () => {
  docker = await services.start({
    config: `tools: { shell: { kind: docker, socket: "${engine.socket}", image: "${IMAGE}", runtime: runsc } }\n`,
  })
  http = await services.start({
    config: `tools: { shell: { kind: http, url: "http://127.0.0.1:${ownPort}/run", api_key: "${SECRET}", price_per_minute: 1 } }\n`,
  })
  none = await services.start({
    config: `
providers:
  acme: { name: Acme, dialects: [openai-chat], base_url: "${provider.url}", api_key: k }
  claude: { name: Claude, dialects: [anthropic], base_url: "${provider.url}", api_key: k }
models:
  t/plain: { endpoints: [{ provider: acme, model: plain }] }
  t/claude: { endpoints: [{ provider: claude, model: claude-opus-4-8 }] }
`,
  })
})
beforeEach(() => {
  asked = []
})

const ask = (
  service: StartedService,
  dialect: Dialect,
  script: readonly Json[],
  tools: readonly Json[],
  more: Json = {},
): Promise<Answer> =>
  infer(
    service,
    {
      model: 'sandbox/agent',
      sandbox: { script },
      ...conversationOf(dialect, 'Run it.'),
      tools,
      ...more,
    },
    { path: PATHS[dialect] },
  )

/** The results of the commands of a call. */
interface Ran {
  readonly output: readonly { readonly stdout: string; readonly stderr: string; readonly outcome: Json }[]
  readonly container_id: string
}
const itemOf = ({ json }: Answer): Json & Ran => {
  const item = (json as { readonly output: readonly Json[] }).output.find(({ type }) => type === 'service:shell')
  return item as Json & Ran
}
const blockOf = ({ json }: Answer, type: string): Json =>
  (json as { readonly content: readonly { readonly type: string; readonly content: Json }[] }).content.find((block) => block.type === type)
    ?.content ?? {}

describe('Docker', () => {
  test('each command runs alone in a container without access to the host, which is gone after the request', async () => {
    const answer = await ask(docker, 'responses', [run('echo one', 'nothing', 'write a x'), DONE], [SHELL])
    expect(answer.status).toBe(200)
    expect(itemOf(answer)).toMatchObject({
      status: 'completed',
      action: { commands: ['echo one', 'nothing', 'write a x'] },
      output: [
        { stdout: 'one\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
        { stdout: '', stderr: 'not found\n', outcome: { type: 'exit', exit_code: 127 } },
        { stdout: '', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
      ],
    })
    expect(engine.commands.slice(-3)).toEqual([
      ['/bin/sh', '-c', 'echo one'],
      ['/bin/sh', '-c', 'nothing'],
      ['/bin/sh', '-c', 'write a x'],
    ])
    expect(engine.made.at(-1)).toMatchObject({
      Image: IMAGE,
      User: '65534:65534',
      Env: [],
      NetworkDisabled: true,
      HostConfig: {
        NetworkMode: 'none',
        ReadonlyRootfs: true,
        Binds: [],
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        Privileged: false,
        PidsLimit: 128,
        Memory: 512 * 1024 * 1024,
        MemorySwap: 512 * 1024 * 1024,
        NanoCpus: 1_000_000_000,
        AutoRemove: true,
        Runtime: 'runsc',
      },
    })
    // A container's own process ends it if no gateway does: after this many seconds without a command, and after a day.
    expect(engine.made.at(-1)?.Cmd.slice(-2)).toEqual(['900', '86400'])
    await until(() => engine.containers.size === 0, 'the container is gone')
    expect(engine.faults).toEqual([])
  })

  test('Messages: the result is a block of the service’s own, in the spelling of the request', async () => {
    for (const prefix of ['service', 'openrouter']) {
      const call = { call: { name: `${prefix}:shell`, arguments: { commands: ['echo two'] } } }
      const answer = await ask(docker, 'messages', [call, DONE], [{ type: `${prefix}:shell` }])
      expect(blockOf(answer, `${prefix}_shell_tool_result`)).toMatchObject({ output: [{ stdout: 'two\n' }] })
    }
  })

  test('a stream of it has exactly one beginning and one end', async () => {
    for (const dialect of ['responses', 'messages'] as const) {
      const { text } = await ask(docker, dialect, [run('echo one'), DONE], [SHELL], { stream: true })
      expect(readStream(dialect, text)).toEqual({ end: 'normal', faults: [] })
    }
  })

  test('requests of one session see each other’s files, and another workspace does not', async () => {
    const session = { session_id: 'the same' }
    const first = itemOf(await ask(docker, 'responses', [run('write a kept'), DONE], [SHELL], session))
    const second = itemOf(await ask(docker, 'responses', [run('read a'), DONE], [SHELL], session))
    expect(second.output[0]).toMatchObject({ stdout: 'kept' })
    expect(second.container_id).toBe(first.container_id)

    const made = await call(docker, 'POST', '/workspaces', { body: { name: 'Other', slug: 'other' } })
    const { id } = (made.json as { readonly data: { readonly id: string } }).data
    const keyed = await call(docker, 'POST', '/keys', { body: { name: 'other', workspace_id: id } })
    const { key } = keyed.json as { readonly key: string }
    const body = { model: 'sandbox/agent', input: 'Run it.' }
    for (const [parameters, found] of [
      [{}, { stderr: 'No such file\n' }],
      // The id of that container does not help either.
      [{ environment: { type: 'container_reference', container_id: first.container_id } }, undefined],
    ] as const) {
      const other = await infer(
        docker,
        { ...body, ...session, sandbox: { script: [run('read a'), DONE] }, tools: [{ ...SHELL, parameters }] },
        { path: PATHS.responses, key },
      )
      expect(other.text).not.toContain('"stdout":"kept"')
      if (found === undefined) expect(other.text).toContain('There is no container of this id.')
      else expect(itemOf(other).output[0]).toMatchObject(found)
    }
  })

  test('a container is found again by its id', async () => {
    const { container_id } = itemOf(await ask(docker, 'responses', [run('write b here'), DONE], [SHELL], { session_id: 'another' }))
    const parameters = { environment: { type: 'container_reference', container_id } }
    expect(itemOf(await ask(docker, 'responses', [run('read b'), DONE], [{ ...SHELL, parameters }])).output[0]).toMatchObject({
      stdout: 'here',
    })
  })

  test('each output is cut at its limit, between two characters', async () => {
    const flood = { call: { name: 'service:shell', arguments: { commands: ['flood'], max_output_length: 11 } } }
    expect(itemOf(await ask(docker, 'responses', [flood, DONE], [SHELL])).output[0]).toMatchObject({ stdout: 'ééééé', stderr: 'oops' })
    const most = itemOf(await ask(docker, 'responses', [run('flood'), DONE], [SHELL])).output[0]?.stdout ?? ''
    expect(Buffer.byteLength(most)).toBe(65_536)
  })

  const slow = { call: { name: 'service:shell', arguments: { commands: ['hang', 'echo after'], timeout_ms: 1500 } } }

  test('a command that does not end is stopped, the answer is completed, and the files of the session stay', async () => {
    const session = { session_id: 'slow' }
    await ask(docker, 'responses', [run('write a kept'), DONE], [SHELL], session)
    const answer = await ask(docker, 'responses', [slow, DONE], [SHELL], session)
    expect(itemOf(answer).output).toMatchObject([{ stdout: 'begun', outcome: { type: 'timeout' } }, { outcome: { type: 'timeout' } }])
    expect(answer.text).toContain(DONE.text)
    expect(engine.commands.at(-1)).toEqual(['/bin/sh', '-c', 'kill -9 -1'])
    expect(itemOf(await ask(docker, 'responses', [run('read a'), DONE], [SHELL], session)).output[0]).toMatchObject({ stdout: 'kept' })
  })

  test('a container without a process left to end its commands ends itself', async () => {
    const session = { session_id: 'a bomb' }
    await ask(docker, 'responses', [run('echo one'), DONE], [SHELL], session)
    const spec = engine.made.at(-1)
    engine.refused = 'kill -9 -1'
    try {
      const { output } = itemOf(await ask(docker, 'responses', [slow, DONE], [SHELL], session))
      expect(output).toMatchObject([{ outcome: { type: 'timeout' } }, { outcome: { type: 'timeout' } }])
    } finally {
      engine.refused = null
    }
    expect([...engine.containers.values()].some((held) => held.spec === spec)).toBe(false)
  })

  test('an existing container is reused even if the engine answers 500 to its name, as Podman 4 does', async () => {
    engine.takenStatus = 500
    try {
      const answer = await ask(docker, 'responses', [run('echo one', 'echo two'), DONE], [SHELL])
      expect(itemOf(answer).output).toMatchObject([{ stdout: 'one\n' }, { stdout: 'two\n' }])
    } finally {
      engine.takenStatus = 409
    }
  })

  test('containers left by an earlier gateway are removed; those that run, or may be about to, are not', async () => {
    engine.leave('old', 'created', 3600)
    engine.leave('young', 'created', 5)
    engine.leave('running', 'running', 3600)
    const started = await services.start({ config: `tools: { shell: { kind: docker, socket: "${engine.socket}", image: "${IMAGE}" } }\n` })
    await ask(started, 'responses', [run('echo one'), DONE], [SHELL])
    await until(() => !engine.containers.has('old'), 'the old container is gone')
    expect([...engine.containers.keys()]).toEqual(expect.arrayContaining(['young', 'running']))
  })

  test('bash of Messages runs there if the request says so, keeps its files, and can be restarted', async () => {
    const bash = (input: Json): Json => ({ call: { name: 'service:bash', arguments: input } })
    const script = [
      bash({ command: 'write c here' }),
      bash({ command: 'read c' }),
      bash({ restart: true }),
      bash({ command: 'read c' }),
      DONE,
    ]
    const { json, status } = await ask(docker, 'messages', script, [BASH])
    expect(status).toBe(200)
    const { content } = json as { readonly content: readonly { readonly type: string; readonly content: Json }[] }
    expect(content.filter(({ type }) => type === 'service_bash_tool_result').map((block) => block.content)).toMatchObject([
      { command: 'write c here', exitCode: 0 },
      { stdout: 'here', exitCode: 0 },
      { exitCode: 0 },
      { stderr: 'No such file\n', exitCode: 1 },
    ])
  })

  test('an invalid call is a result that the model reads', async () => {
    for (const input of [
      {},
      { commands: [] },
      { commands: Array(21).fill('echo') },
      { commands: [1] },
      { commands: ['echo'], timeout_ms: 0 },
    ]) {
      const answer = await ask(docker, 'responses', [{ call: { name: 'service:shell', arguments: input } }, DONE], [SHELL])
      expect([answer.status, itemOf(answer)['status']]).toEqual([200, 'failed'])
    }
  })
})

describe('a service of the operator’s', () => {
  test('is asked for each command, signed, and paid by the minute', async () => {
    own = ({ command }) => [200, { stdout: `ran ${String(command)}`, stderr: '', exit_code: 3 }]
    const answer = await ask(http, 'responses', [run('ls', 'pwd'), DONE], [SHELL], { session_id: 's' })
    expect(itemOf(answer).output).toEqual([
      { stdout: 'ran ls', stderr: '', outcome: { type: 'exit', exit_code: 3 } },
      { stdout: 'ran pwd', stderr: '', outcome: { type: 'exit', exit_code: 3 } },
    ])
    expect(asked.map(({ text }) => JSON.parse(text) as Json)).toMatchObject([
      { command: 'ls', timeout_ms: 60_000, max_output: 65_536, container: expect.stringMatching(/^patchbay-[0-9a-f]{40}$/) },
      { command: 'pwd' },
    ])
    for (const { headers, text } of asked) {
      const [, second, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-patchbay-signature'])) ?? []
      expect(digest).toBe(createHmac('sha256', SECRET).update(`${second}.${text}`).digest('hex'))
    }
    const { usage } = answer.json as {
      readonly usage: { readonly cost: number; readonly cost_details: { readonly server_tool_cost: number } }
    }
    expect(usage.cost_details.server_tool_cost).toBeGreaterThan(0)
  })

  test.each([
    ['an error', 500, {}, 'answered 500'],
    ['no answer that can be read', 200, { out: 1 }, 'cannot be read'],
  ])('%s is a failed call, and the answer comes', async (_, status, body, words) => {
    own = () => [status, body]
    const answer = await ask(http, 'responses', [run('ls'), DONE], [SHELL])
    expect(itemOf(answer)).toMatchObject({ status: 'failed', error: expect.stringContaining(words) })
    expect(answer.text).toContain(DONE.text)
    expect(asked.length).toBe(1)
  })

  test('the commands before a failing one are paid', async () => {
    own = ({ command }) => (command === 'ls' ? [200, { stdout: '', stderr: '', exit_code: 0 }] : [500, {}])
    const cost = async (...commands: string[]): Promise<number> => {
      const answer = await ask(http, 'responses', [run(...commands), DONE], [SHELL])
      expect(itemOf(answer)['status']).toBe('failed')
      return (answer.json as { readonly usage: { readonly cost_details: { readonly server_tool_cost: number } } }).usage.cost_details
        .server_tool_cost
    }
    expect(await cost('ls', 'pwd')).toBeGreaterThan(0)
    expect((await cost('pwd')) || 0).toBe(0)
  })

  describe('a command that is stopped', () => {
    const hang = ({ command }: Json): readonly [number, Json] | null =>
      command === 'hang' ? null : [200, { stdout: '', stderr: '', exit_code: 0 }]

    test("costs what it ran if the tools' time is over, and the answer is completed", async () => {
      own = hang
      const hasty = await services.start({
        config: `tools: { loop: { seconds: 1.5 }, shell: { kind: http, url: "http://127.0.0.1:${ownPort}/run", api_key: "${SECRET}", price_per_minute: 1 } }\n`,
      })
      const answer = await ask(hasty, 'responses', [run('ls', 'hang'), DONE], [SHELL])
      expect(answer.text).toContain(DONE.text)
      const { usage } = answer.json as { readonly usage: { readonly cost_details: { readonly server_tool_cost: number } } }
      expect(usage.cost_details.server_tool_cost).toBeGreaterThan(1 / 60)
    })

    test('costs what it ran if the client leaves, and is on record', async () => {
      own = hang
      const leaving = new AbortController()
      const response = await fetch(`${http.api}/responses`, {
        method: 'POST',
        signal: leaving.signal,
        headers: { authorization: `Bearer ${http.inferenceKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'sandbox/agent',
          sandbox: { script: [run('ls', 'hang'), DONE] },
          stream: true,
          input: 'Run it.',
          tools: [SHELL],
        }),
      })
      await until(() => asked.length === 2, 'the second command')
      leaving.abort()
      const id = response.headers.get('x-generation-id') ?? ''
      let found: Answer | undefined
      await until(async () => (found = await call(http, 'GET', `/generation?id=${id}`)).status === 200, 'the record')
      const { data } = (found as Answer).json as { readonly data: Json }
      expect(data).toMatchObject({ cancelled: true, stopped_by: 'cancelled', server_tool_calls: [{ tool: 'shell' }] })
      const [ran] = data['server_tool_calls'] as readonly { readonly cost: number }[]
      expect(ran?.cost).toBeGreaterThan(0)
      expect(data['total_cost']).toBeGreaterThanOrEqual(Number(ran?.cost))
    })
  })

  test('a command that took too long is reported as such', async () => {
    own = () => [200, { stdout: 'so far', stderr: '', exit_code: null }]
    expect(itemOf(await ask(http, 'responses', [run('sleep 999'), DONE], [SHELL])).output).toMatchObject([
      { stdout: 'so far', outcome: { type: 'timeout' } },
    ])
  })
})

test('the command of docs/shell.md is answered', async () => {
  const page = readFileSync(new URL('../../docs/shell.md', import.meta.url), 'utf8')
  const [, path = '', body = ''] = /```sh\ncurl "\$PATCHBAY_URL\/api\/v1(\S+)".*?-d '(.*?)'\n```/s.exec(page) ?? []
  const { status, text } = await infer(docker, body, { path })
  expect(status).toBe(200)
  expect(text).toContain('Twelve.')
  expect(engine.commands.at(-1)).toEqual(['/bin/sh', '-c', 'wc -l notes.txt'])
})

describe('without a sandbox, and in other places', () => {
  test.each([
    ['responses', SHELL],
    ['messages', SHELL],
    ['messages', BASH],
  ] as const)('400: %s names the setting that is missing', async (dialect, tool) => {
    const { status, text } = await ask(none, dialect, [DONE], [tool])
    expect(status).toBe(400)
    expect(text).toContain('tools.shell')
  })

  test.each([
    ['chat', 'shell', 'Responses and Messages'],
    ['chat', 'bash', 'Messages'],
    ['responses', 'bash', 'service:shell'],
  ] as const)('400: %s has no service:%s', async (dialect, tool, words) => {
    const { status, text } = await ask(docker, dialect, [DONE], [{ type: `service:${tool}` }])
    expect(status).toBe(400)
    expect(text).toContain(words)
  })

  test.each([
    [{ environment: { type: 'local' } }, 'environment'],
    [{ environment: { type: 'container_reference', container_id: 'x'.repeat(21) } }, 'container_id'],
    [{ environment: { type: 'container_reference' } }, 'container_id'],
    [{ sleep_after_seconds: 0 }, 'sleep_after_seconds'],
    [{ sleep_after_seconds: 2_592_001 }, 'sleep_after_seconds'],
  ])('400: %j', async (parameters, words) => {
    const { status, text } = await ask(docker, 'responses', [DONE], [{ ...SHELL, parameters }])
    expect(status).toBe(400)
    expect(text).toContain(words)
  })

  test('the client runs bash of Messages unless it asks otherwise: Claude gets its own, other models a function', async () => {
    provider.script(({ stream }) => stream([proseChunk('Fine.'), FINISH_CHUNK]))
    const tools = [{ type: 'service:bash' }]
    const bash = { call: { name: 'bash', arguments: { command: 'ls' } } }
    const { json } = await ask(none, 'messages', [bash], tools)
    expect(json).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'tool_use', name: 'bash', input: { command: 'ls' } }] })
    await ask(none, 'messages', [], tools, { model: 't/plain', sandbox: undefined, stream: true })
    expect(provider.last.body.tools).toMatchObject([{ function: { name: 'bash' } }])
    await ask(none, 'messages', [], tools, { model: 't/claude', sandbox: undefined, stream: true })
    expect(provider.last.body.tools as unknown).toEqual([{ type: 'bash_20250124', name: 'bash' }])
  })

  test('a shell of OpenAI’s that the client runs stays with the client', async () => {
    const { text } = await ask(docker, 'responses', [{ call: { name: 'shell', arguments: { commands: ['ls'] } } }], [{ type: 'shell' }])
    expect(text).toContain('"type":"shell_call"')
    expect(engine.commands.at(-1)).not.toEqual(['/bin/sh', '-c', 'ls'])
  })
})
