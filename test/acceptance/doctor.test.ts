/** `patchbay doctor`, on installations with and without faults, and against scripted vendors. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'bun:test'
import { Client } from 'pg'

import { describeEachEngine } from '../support/databases.ts'
import { HAS_REDIS, startRedis } from '../support/redis.ts'
import { useServices } from '../support/started-service.ts'

const services = useServices()
const KEY = 'sk-scripted-vendor-0123456789abcdef'

interface Asked {
  readonly stream?: boolean
  readonly tools?: readonly unknown[]
  readonly response_format?: unknown
  readonly [field: string]: unknown
}

/** A vendor of Chat Completions. `refuse` returns the message of its 400, or null if it answers. */
const startVendor = (refuse: (body: Asked) => string | null, dateOffsetMs = 0) => {
  const asked: Asked[] = []
  const server = Bun.serve({
    port: 0,
    development: false,
    async fetch(request) {
      const headers = { date: new Date(Date.now() + dateOffsetMs).toUTCString() }
      if (request.method === 'HEAD') return new Response(null, { status: 404, headers })
      if (request.headers.get('authorization') !== `Bearer ${KEY}`)
        return Response.json({ error: { message: 'Bad key.' } }, { status: 401 })
      const body = (await request.json()) as Asked
      asked.push(body)
      const sentence = refuse(body)
      if (sentence !== null)
        return Response.json({ error: { message: `${sentence} Your key is ${KEY}.`, type: 'invalid_request_error' } }, { status: 400 })
      const message = answerTo(body)
      const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }
      const about = { id: 'c-1', created: 1, model: 'm' }
      if (body.stream !== true)
        return Response.json({ ...about, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
      const chunks = [
        { choices: [{ index: 0, delta: message, finish_reason: null }] },
        { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        { choices: [], usage },
      ].map((chunk) => `data: ${JSON.stringify({ ...about, object: 'chat.completion.chunk', ...chunk })}\n\n`)
      return new Response(`${chunks.join('')}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  afterAll(() => server.stop(true))
  return { url: `http://127.0.0.1:${server.port}/v1`, asked }
}

const answerTo = (body: Asked): object => {
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }
  if (body.tools !== undefined) return { role: 'assistant', content: null, tool_calls: [call] }
  return { role: 'assistant', content: body.response_format === undefined ? 'Hello.' : '{"colour":"red"}' }
}

const fileFor = (url: string, more = ''): string => {
  const path = join(services.directory(), 'patchbay.yaml')
  writeFileSync(
    path,
    `providers:
  scripted:
    name: Scripted
    dialects: [openai-chat]
    base_url: ${url}
    api_key: ${KEY}
models:
  scripted/one:
    input_modalities: [text, image]
    endpoints: [{ provider: scripted, model: one-1, prices: { prompt: 1, completion: 2 } }]
${more}`,
  )
  return path
}

const doctor = (config: string, ...flags: readonly string[]) =>
  services.run(['doctor', '--data-dir', join(services.directory(), 'data'), '--config', config, ...flags])

describe('without --live', () => {
  test('something that does not exist yet is a note and not a fault, and nothing is created', async () => {
    const dataDir = join(services.directory(), 'data')
    const { code, stdout } = await services.run(['doctor', '--data-dir', dataDir])
    expect(stdout).toMatch(/^note {3}configuration: No provider is enabled: .*OPENAI_API_KEY/m)
    expect(stdout).toMatch(/^note {3}storage: There is no data in /m)
    expect(code).toBe(0)
    expect(() => readdirSync(dataDir)).toThrow()
  })

  test('data that cannot be reached is a fault, and is not taken for data that does not exist yet', async () => {
    const dataDir = join(services.directory(), 'data')
    symlinkSync(dataDir, dataDir)
    const { code, stdout } = await services.run(['doctor', '--data-dir', dataDir])
    expect(stdout).toContain(`WRONG  storage: The data in ${dataDir} cannot be read (ELOOP): run this as the user of the service.\n`)
    expect(code).toBe(1)
  })

  const withRedis = (url: string) => services.run(['doctor', '--data-dir', join(services.directory(), 'data'), '--redis-url', url])

  test('a Redis that cannot be reached is a fault, and no password is shown', async () => {
    const { code, stdout } = await withRedis('redis://:hunter2@127.0.0.1:1')
    expect(stdout).toContain('WRONG  redis: 127.0.0.1:1 cannot be used: 127.0.0.1:1 cannot be reached: ECONNREFUSED.\n')
    expect([code, stdout.includes('hunter2')]).toEqual([1, false])
  })

  test.skipIf(!HAS_REDIS)('a Redis that takes writes and scripts is fine, and a replica, which takes none, is a fault', async () => {
    const { url, stop } = await startRedis()
    const fine = await withRedis(url)
    expect(fine.stdout).toContain(`fine   redis: ${new URL(url).host} answers, and takes writes and scripts.\n`)
    expect(fine.code).toBe(0)
    const client = new Bun.RedisClient(url)
    await client.send('REPLICAOF', ['127.0.0.1', '1'])
    client.close()
    const replica = await withRedis(url)
    expect(replica.stdout).toMatch(/^WRONG {2}redis: .* cannot be used: .*READONLY/m)
    expect(replica.code).toBe(1)
    await stop()
  })

  test('a running service, its secret, its provider and its clock are fine', async () => {
    const { url, asked } = startVendor(() => null)
    const { dataDir } = await services.start()
    const { code, stdout } = await services.run(['doctor', '--data-dir', dataDir, '--config', fileFor(url)])
    for (const name of ['configuration', 'storage', 'secret', 'provider scripted', 'clock']) expect(stdout).toContain(`fine   ${name}: `)
    expect([code, asked.length]).toEqual([0, 0])
  })

  test('a misspelt setting is a fault that names the intended one, and everything else is still checked', async () => {
    const { url } = startVendor(() => null)
    const { code, stdout } = await doctor(fileFor(url, 'timeout: {}\n'))
    expect(stdout).toMatch(/^WRONG {2}configuration: .*timeout: Unknown field\. Did you mean "timeouts"\?/m)
    expect(stdout).toContain('storage:')
    expect(code).toBe(1)
  })

  test('a misspelt model of a plugin or a tool is a fault that names the intended one', async () => {
    const { url } = startVendor(() => null)
    const { code, stdout } = await doctor(
      fileFor(
        url,
        'plugins: { alignment: { model: scripted/onee } }\ntools: { fusion: { presets: { a: [sandbox/echo, scripted/one] } } }\n',
      ),
    )
    expect(stdout.match(/^WRONG {2}configuration: .*$/gm)).toEqual([
      'WRONG  configuration: plugins.alignment.model: The model "scripted/onee" does not exist here, or no enabled provider serves it. Did you mean scripted/one?',
    ])
    expect(code).toBe(1)
  })

  test('an unreachable provider is a fault, with what to do about it', async () => {
    const { code, stdout } = await doctor(fileFor('http://127.0.0.1:1/v1'))
    expect(stdout).toMatch(
      /^WRONG {2}provider scripted: 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)\. Nothing listens there: .*base_url\.$/m,
    )
    expect(code).toBe(1)
  })

  test("a clock that differs much from the providers' is a fault", async () => {
    const { url } = startVendor(() => null, 600_000)
    const { code, stdout } = await doctor(fileFor(url))
    expect(stdout).toMatch(/^WRONG {2}clock: (?:599|60\d) s behind the providers' clocks/m)
    expect(code).toBe(1)
  })

  test('a data directory with another secret is a fault', async () => {
    const { dataDir } = await services.start()
    const { code, stdout } = await services.run(['doctor', '--data-dir', dataDir], { PATCHBAY_SECRET: 'x'.repeat(40) })
    expect(stdout).toMatch(/^WRONG {2}storage: PATCHBAY_SECRET is not the root secret/m)
    expect(code).toBe(1)
  })
})

describeEachEngine('a database that takes no writes', (engine) => {
  if (engine.name === 'sqlite') return

  test('is a fault, though it answers every question, as a standby does', async () => {
    const { databaseUrl } = await engine.locate()
    const { dataDir, stop } = await services.start({ flags: ['--database-url', databaseUrl ?? ''] })
    await stop()
    const args = ['doctor', '--data-dir', dataDir, '--database-url', databaseUrl ?? '']
    const fine = await services.run(args)
    expect(fine.stdout).toContain('fine   storage: PostgreSQL answers, at the schema of this version.\n')
    expect(fine.code).toBe(0)
    const client = new Client({ connectionString: databaseUrl ?? '' })
    await client.connect()
    await client.query(`alter database ${client.database} set default_transaction_read_only = on`)
    await client.end()
    const { code, stdout } = await services.run(args)
    expect(stdout).toMatch(/^WRONG {2}storage: The database takes no writes, as a standby/m)
    expect(code).toBe(1)
  })
})

describe('--live', () => {
  test('states the possible cost before it asks, asks six questions per family, and reports them as answered', async () => {
    const { url, asked } = startVendor(() => null)
    const { code, stdout } = await doctor(fileFor(url), '--live')
    expect(stdout).toMatch(/^6 requests to providers, at most \$0\.00\d+ in all \(--max-cost-usd 0\.01\)\.$/m)
    expect(stdout).toMatch(/plain\s+streamed\s+tools\s+reasoning\s+json\s+picture/)
    expect(stdout).toMatch(/^scripted scripted\/one \(openai-chat\)(?:\s+ok){6}$/m)
    expect([code, asked.length]).toEqual([0, 6])
    expect(asked.map(({ model }) => model)).toEqual(Array.from({ length: 6 }, () => 'one-1'))
  })

  test('a refusal is reported in the words of the vendor, with our rule that it contradicts', async () => {
    const { url } = startVendor((body) => (body['response_format'] === undefined ? null : "Unknown parameter: 'response_format'."))
    const { code, stdout } = await doctor(fileFor(url), '--live')
    expect(stdout).toMatch(/(?:\s+ok){4}\s+REFUSED\s+ok$/m)
    expect(stdout).toContain("scripted scripted/one (openai-chat) json: Scripted: Unknown parameter: 'response_format'.")
    expect(stdout).toContain('rule of Patchbay: scripted (openai-chat) accepts response_format for one-1')
    expect(stdout).not.toContain(KEY)
    expect(code).toBe(1)
  })

  test('a model that writes no text, such as one for embeddings, is not asked for any', async () => {
    const { url, asked } = startVendor(() => 'This is not a chat model.')
    const prices = '{ prompt: 0.02, completion: 0 }'
    const embedder = `  scripted/embedder:
    output_modalities: [embeddings]
    endpoints: [{ provider: scripted, model: embedder-1, prices: ${prices} }]
`
    const { code, stdout } = await doctor(fileFor(url, embedder), '--live', '--model', 'scripted/embedder')
    expect(stdout).toMatch(/^scripted scripted\/embedder \(openai-chat\)(?:\s+-){6}$/m)
    expect([code, asked.length]).toEqual([0, 0])
  })

  test('without --model no row is spent on a model that writes no text', async () => {
    const { url } = startVendor(() => null)
    const embedder = `  scripted/embedder:
    output_modalities: [embeddings]
    endpoints: [{ provider: scripted, model: embedder-1, prices: { prompt: 0.02, completion: 0 } }]
`
    const { stdout } = await doctor(fileFor(url, embedder), '--live')
    expect(stdout).toMatch(/^scripted scripted\/one \(openai-chat\)(?:\s+ok){6}$/m)
    expect(stdout).not.toContain('scripted/embedder')
  })

  test('nothing is asked that might cost more than the limit, and the report says how much was not asked for that reason', async () => {
    const { url, asked } = startVendor(() => null)
    const { stdout } = await doctor(fileFor(url), '--live', '--max-cost-usd', '0.0005')
    expect(asked.length).toBeLessThan(6)
    const left = 6 - asked.length
    expect(stdout).toMatch(
      new RegExp(`^${asked.length} requests to providers, .*\\. ${left} more do not fit that bound: .*--model\\.$`, 'm'),
    )
    expect(stdout).toMatch(new RegExp(`^scripted scripted/one \\(openai-chat\\)(?:\\s+ok){${asked.length}}(?:\\s+too dear){${left}}$`, 'm'))
  })

  test('--record where nothing can be written: exit 2, and no question is paid for', async () => {
    const { url, asked } = startVendor(() => null)
    const file = join(services.directory(), 'file')
    writeFileSync(file, '')
    for (const directory of [file, join(file, 'below')]) {
      const { code, stdout, stderr } = await doctor(fileFor(url), '--live', '--record', directory)
      expect([code, stdout, stderr]).toEqual([
        2,
        '',
        `patchbay: ${directory} cannot be made (${directory === file ? 'EEXIST' : 'ENOTDIR'}).\n`,
      ])
    }
    expect(asked).toEqual([])
  })

  test('--record saves the exchanges, without the key, as files that a replay can read', async () => {
    const { url } = startVendor((body) => (body['tools'] === undefined ? null : 'tools: not today.'))
    const directory = join(services.directory(), 'recorded')
    mkdirSync(directory)
    await doctor(fileFor(url), '--live', '--record', directory)
    const folder = join(directory, 'openai-chat')
    expect(readdirSync(folder).toSorted()).toEqual(
      ['json-whole.json', 'picture-whole.json', 'plain-whole.json', 'reasoning-whole.json', 'streamed.chunks.txt', 'tools-whole.json'].map(
        (name) => `scripted-one-1-${name}`,
      ),
    )
    const lines = readFileSync(join(folder, 'scripted-one-1-streamed.chunks.txt'), 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { object: string }).object)).toEqual(
      Array.from({ length: 3 }, () => 'chat.completion.chunk'),
    )
    const all = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(all).toHaveLength(12)
    for (const { parentPath, name } of all) expect(readFileSync(join(parentPath, name), 'utf8')).not.toContain(KEY)
  })

  test('a model that no provider serves, and an invalid limit, give one sentence and exit code 2', async () => {
    const { url } = startVendor(() => null)
    for (const flags of [
      ['--model', 'no/such'],
      ['--max-cost-usd', 'much'],
    ]) {
      const { code, stderr } = await doctor(fileFor(url), '--live', ...flags)
      expect(stderr).toMatch(/^patchbay: --.+\.\n$/)
      expect(code).toBe(2)
    }
  })

  test('--json prints the checks and the findings as one object', async () => {
    const { url } = startVendor(() => null)
    const { stdout } = await doctor(fileFor(url), '--live', '--json')
    const reported = JSON.parse(stdout) as { checks: unknown[]; live: { outcome: string }[] }
    expect(reported.live.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => 'answered'))
    expect(reported.checks.length).toBeGreaterThan(2)
  })
})
