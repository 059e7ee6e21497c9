/** The service as it is composed, on SQLite, with a clock that the test controls: it tests how the parts are joined. */
import { describe, expect, test } from 'bun:test'

import { basePartsOf } from '../../test/support/base-parts.ts'
import { changedBy } from '../../test/support/changed-by.ts'
import { createFakeClock, T0, turn, type FakeClock } from '../../test/support/fake-clock.ts'
import { openSqliteDatabase } from '../../test/support/sqlite-database.ts'
import { configFileSchema, type ConfigFile } from '../config-file.ts'
import { UNBOUNDED } from '../keys/keys.ts'
import { makeRootSecret } from '../root-secret.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { askComposed } from './ask-composed.test-kit.ts'
import { composeService, type Service } from './service.ts'

const { database, owner, dataDir } = await openSqliteDatabase()
const secret = makeRootSecret(dataDir)

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const fileOf = (written: object): ConfigFile => configFileSchema.parse(written)

interface Started {
  readonly service: Service
  readonly clock: FakeClock
  readonly metrics: ReturnType<typeof createMetrics>
}

/** One process of the service; all of them share the database. */
const start = async (written: object = {}, memoryBytes = Number.POSITIVE_INFINITY, cpuMs = () => 0): Promise<Started> => {
  const clock = createFakeClock()
  const metrics = createMetrics()
  const base = basePartsOf({ database, owner, secret }, { clock, metrics, memoryBytes, cpuMs })
  return { service: await composeService(base, fileOf(written), null, {}), clock, metrics }
}

const makeKey = async ({ service }: Started, kind: 'management' | 'inference', limitNanos: number | null = null) => {
  const { workspaceId, userId } = owner
  const made = await service.keys.create({ kind, name: kind, workspaceId, creatorUserId: userId, ...UNBOUNDED, limitNanos }, changedBy())
  return { key: made.key, hash: made.record.hash }
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly json: Readonly<Record<string, unknown>>
}

const ask = async ({ service, clock }: Started, key: string, method: string, path: string, body?: object): Promise<Answer> => {
  const response = await askComposed(service, clock, { key, method, path, body })
  const text = await response.text()
  const json = (text.startsWith('{') ? JSON.parse(text) : {}) as Answer['json']
  return { status: response.status, headers: response.headers, json }
}

const chat = (from: Started, key: string, fields: object = {}): Promise<Answer> =>
  ask(from, key, 'POST', '/chat/completions', { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }], ...fields })

/** Lets everything happen that does not wait for time, until the result is `expected`, and checks that it stays so. */
const becomes = async (asked: () => unknown, expected: unknown): Promise<void> => {
  for (let turns = 0; turns < 100 && !Bun.deepEquals(await asked(), expected); turns += 1) await turn()
  for (let turns = 0; turns < 10; turns += 1) await turn()
  expect(await asked()).toEqual(expected)
}

/** A priced model whose provider does not exist: a request that no budget refuses fails at the provider. */
const PRICED = {
  providers: { fake: { dialects: ['openai-chat'], base_url: 'http://127.0.0.1:1' } },
  models: { 'fake/one': { endpoints: [{ provider: 'fake', model: 'one', prices: { prompt: 1, completion: 1 } }] } },
}

const [here, there] = [await start(PRICED), await start(PRICED)]
const { key: manager } = await makeKey(there, 'management')

const POLL_MS = 500

describe('what another process changes is in force here after half a second, and not before it was read:', () => {
  const status = (answer: Answer): number => answer.status
  const change = async (method: string, path: string, body?: object): Promise<void> => {
    const answer = await ask(there, manager, method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.json)}`)
  }

  test.each<{
    what: string
    before?: () => Promise<void>
    fields?: object
    change: (hash: string) => Promise<void>
    after?: () => Promise<void>
    seen: (answer: Answer) => unknown
    from: unknown
    to: unknown
  }>([
    {
      what: 'a key',
      change: (hash) => change('DELETE', `/keys/${hash}`),
      seen: status,
      from: 200,
      to: 401,
    },
    {
      what: 'a preset',
      before: () => change('POST', '/presets/shared/chat/completions', { model: 'sandbox/echo', messages: [] }),
      fields: { model: '@preset/shared' },
      change: () => change('POST', '/presets/shared/chat/completions', { model: 'sandbox/echo', messages: [], temperature: 1 }),
      seen: ({ headers }) => headers.get('x-preset'),
      from: 'shared@1',
      to: 'shared@2',
    },
    {
      what: 'a guardrail',
      change: () => change('PATCH', '/guardrails/default', { ignored_models: ['sandbox/echo'] }),
      after: () => change('PATCH', '/guardrails/default', { ignored_models: null }),
      seen: status,
      from: 200,
      to: 503,
    },
    {
      what: 'a default of a workspace',
      fields: { model: undefined },
      before: () => change('PATCH', '/workspaces/default', { default_text_model: 'sandbox/echo' }),
      change: () => change('PATCH', '/workspaces/default', { default_text_model: 'sandbox/flaky' }),
      after: () => change('PATCH', '/workspaces/default', { default_text_model: null }),
      seen: ({ json }) => json['model'],
      from: 'sandbox/echo',
      to: 'sandbox/flaky',
    },
    {
      what: 'a budget',
      change: () => change('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000_001 }),
      fields: { model: 'fake/one' },
      after: () => change('DELETE', '/workspaces/default/budgets/daily'),
      seen: (answer) => answer.status === 403,
      from: false,
      to: true,
    },
    {
      // This budget does not count spending through a customer's own account.
      what: "a customer's provider key",
      before: () => change('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000_001 }),
      fields: { model: 'fake/one' },
      change: () => change('POST', '/byok', { provider: 'fake', key: 'own-key-of-a-customer' }),
      after: () => change('DELETE', '/workspaces/default/budgets/daily'),
      seen: status,
      from: 403,
      to: 200,
    },
  ])('$what', async ({ before, fields, change, after, seen, from, to }) => {
    await before?.()
    const { key, hash } = await makeKey(here, 'inference')
    const asked = async (): Promise<unknown> => seen(await chat(here, key, fields))
    here.clock.advance(POLL_MS)
    await becomes(asked, from)
    await change(hash)
    await becomes(asked, from)
    here.clock.advance(POLL_MS)
    await becomes(asked, to)
    await after?.()
  })
})

describe('a new configuration file', () => {
  test('changes the limits of requests', async () => {
    const process = await start()
    const { key } = await makeKey(process, 'inference')
    expect([(await chat(process, key)).status, (await chat(process, key)).status]).toEqual([200, 200])
    process.service.reload(fileOf({ limits: { requests_per_minute: 1 } }))
    expect([(await chat(process, key)).status, (await chat(process, key)).status]).toEqual([200, 429])
  })

  test('changes how many attempts a provider bears', async () => {
    const process = await start()
    const { key } = await makeKey(process, 'inference')
    process.service.reload(fileOf({ limits: { provider_in_flight: 1 } }))
    void chat(process, key, { model: 'sandbox/slow', stream: true })
    await becomes(() => process.metrics.render().includes('patchbay_running_generations 1'), true)
    expect((await chat(process, key)).status).toBe(503)
    process.service.reload(fileOf({ limits: { provider_in_flight: 2 } }))
    expect((await chat(process, key)).status).toBe(200)
  })

  test('changes the room for bodies', async () => {
    const process = await start()
    const { key } = await makeKey(process, 'inference')
    const body = { content: 'x'.repeat(3000) }
    const together = async (): Promise<number[]> =>
      (
        await Promise.all([
          chat(process, key, { messages: [{ role: 'user', ...body }] }),
          chat(process, key, { messages: [{ role: 'user', ...body }] }),
        ])
      ).map(({ status }) => status)
    expect(await together()).toEqual([200, 200])
    process.service.reload(fileOf({ limits: { body_bytes_in_flight: 4096, max_body_bytes: 4096 } }))
    expect(new Set(await together())).toEqual(new Set([200, 503]))
  })

  test('changes budgets', async () => {
    const process = await start()
    const { key } = await makeKey(process, 'inference')
    expect((await chat(process, key)).status).toBe(200)
    process.service.reload(fileOf({ budgets: { credits: true } }))
    expect((await chat(process, key)).status).toBe(402)
    process.service.reload(fileOf({}))
    expect((await chat(process, key)).status).toBe(200)
  })

  test('changes which private addresses traces may go to: one that it adds is tried at once, one that it leaves out no longer', async () => {
    const process = await start()
    const { key } = await makeKey(process, 'management')
    const refusal = async (): Promise<string> => {
      const body = { type: 'otel-collector', name: 'Near', config: { endpoint: 'http://127.0.0.1:1' } }
      return JSON.stringify((await ask(process, key, 'POST', '/observability/destinations', body)).json)
    }
    const notTrusted = expect.stringContaining('observability.trusted_hosts')
    expect(await refusal()).toEqual(notTrusted)
    process.service.reload(fileOf({ observability: { trusted_hosts: ['127.0.0.1:1'] } }))
    expect(await refusal()).toEqual(expect.stringMatching(/does not take traces: (?!.*trusted_hosts)/))
    process.service.reload(fileOf({}))
    expect(await refusal()).toEqual(notTrusted)
  })

  test('changes what is served', async () => {
    const process = await start()
    const { key } = await makeKey(process, 'inference')
    process.service.reload(fileOf({ sandbox: false }))
    expect((await chat(process, key)).status).toBe(404)
  })
})

test('GET /service has the bounds of bytes that are in force, with what makes them other than they are set', async () => {
  const MIB = 1024 ** 2
  const process = await start({ limits: { max_body_bytes: 4096 } }, 640 * MIB)
  const { key } = await makeKey(process, 'management')
  const bounds = async (): Promise<readonly unknown[]> => {
    const { settings } = (await ask(process, key, 'GET', '/service')).json['data'] as { settings: readonly { name: string }[] }
    return settings.filter(({ name }) => name.endsWith('_bytes_in_flight'))
  }
  const lowered = { value: 80 * MIB, source: 'memory' }
  expect(await bounds()).toEqual([
    { name: 'limits.body_bytes_in_flight', ...lowered, place: '671088640 bytes; default says 134217728' },
    { name: 'limits.answer_bytes_in_flight', ...lowered, place: '671088640 bytes; default says 268435456' },
  ])
  process.service.reload(fileOf({ limits: { body_bytes_in_flight: 4096, max_body_bytes: 8192, answer_bytes_in_flight: 70 * MIB } }))
  expect(await bounds()).toEqual([
    { name: 'limits.body_bytes_in_flight', value: 8192, source: 'default', place: 'limits.max_body_bytes, instead of 4096' },
    { name: 'limits.answer_bytes_in_flight', value: 70 * MIB, source: 'default', place: null },
  ])
})

describe('among the requests being answered', () => {
  const answered = ({ metrics }: Started): string | undefined => /^patchbay_running_generations (\d+)$/m.exec(metrics.render())?.[1]

  test('is none that was refused', async () => {
    const process = await start({ budgets: { credits: true } })
    const { key } = await makeKey(process, 'inference')
    expect([(await chat(process, key)).status, answered(process)]).toEqual([402, '0'])
  })

  test('is one until its end, and no longer', async () => {
    const process = await start()
    const { key } = await makeKey(process, 'inference')
    expect([(await chat(process, key)).status, answered(process)]).toEqual([200, '0'])
    void chat(process, key, { model: 'sandbox/slow', stream: true })
    await becomes(() => answered(process), '1')
    process.service.endRuns()
    await becomes(() => answered(process), '0')
  })
})

describe('a process whose event loop is blocked for seconds', () => {
  const blocked = async (computes: boolean): Promise<Started & { readonly key: string }> => {
    let cpuMs = 0
    const process = await start({}, Number.POSITIVE_INFINITY, () => cpuMs)
    const { key } = await makeKey(process, 'inference')
    // The first request begins the measurement.
    expect((await chat(process, key)).status).toBe(200)
    for (let pause = 0; pause < 3; pause += 1) {
      process.clock.block(2000)
      if (computes) cpuMs += 2000
      process.clock.advance(0)
    }
    return { ...process, key }
  }
  const check = async ({ service: { app } }: Started, path: string): Promise<number> =>
    (await app.answer(new Request(`http://host${path}`))).status

  test('refuses new requests with Retry-After until two seconds after, and is alive, ready and managed', async () => {
    const process = await blocked(true)
    const { key: managing } = await makeKey(process, 'management')
    const refused = await chat(process, process.key)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2'])
    expect([await check(process, '/health/live'), await check(process, '/health/ready')]).toEqual([200, 200])
    expect((await ask(process, managing, 'GET', '/presets')).status).toBe(200)
    process.clock.advance(2100)
    expect((await chat(process, process.key)).status).toBe(200)
  })

  test('answers if it had nothing to compute: another program had the processor', async () => {
    const process = await blocked(false)
    expect((await chat(process, process.key)).status).toBe(200)
  })
})

test('a service that drains takes no new inference', async () => {
  const process = await start()
  const { key } = await makeKey(process, 'inference')
  process.service.beginDrain(1000)
  expect((await chat(process, key)).status).toBe(503)
})

describe('every hour, what is old enough is deleted, and nothing else:', () => {
  const TABLES = ['generations', 'ledger', 'idempotency_keys'] as const

  const counts = async (): Promise<readonly number[]> =>
    Promise.all(
      TABLES.map(async (table) => {
        const query = database.kysely.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('rows'))
        return (await query.executeTakeFirstOrThrow()).rows
      }),
    )

  /** A request under a limit and an answer kept for its idempotency key, both made now; then the housekeeping of `days` later. */
  const keptAfter = async (process: Started, days: number, expected: readonly number[]): Promise<void> => {
    for (const table of TABLES) await database.kysely.deleteFrom(table).execute()
    const { key } = await makeKey(process, 'inference', 1_000_000_000)
    const { headers } = await chat(process, key)
    // Reading the record waits until it is written.
    expect((await ask(process, key, 'GET', `/generation?id=${headers.get('x-generation-id')}`)).status).toBe(200)
    const created_at = new Date(T0).toISOString()
    const kept = { workspace_id: owner.workspaceId, route: 'r', slug: 's', key: 'k', body_sha256: '', status: 200, body: '{}', created_at }
    await database.kysely.insertInto('idempotency_keys').values(kept).execute()
    expect(await counts()).toEqual([1, 1, 1])
    process.clock.setWall(T0 + days * DAY_MS)
    process.clock.advance(HOUR_MS)
    await becomes(counts, expected)
  }

  test('answers for idempotency keys after a day, records and the ledger after their retention', async () => {
    await keptAfter(await start(), 0.9, [1, 1, 1])
    await keptAfter(await start(), 2, [1, 1, 0])
    // The ledger keeps its days whole.
    await keptAfter(await start(), 90, [0, 1, 0])
    await keptAfter(await start(), 91, [0, 0, 0])
  })

  test('each row without a retention of its own goes when nobody needs it any more, and no sooner', async () => {
    const process = await start()
    const pass = async (ms: number): Promise<void> => {
      process.clock.advance(ms)
      for (let turns = 0; turns < 50; turns += 1) await turn()
    }
    // The first run of every job, so that the next ends an hour.
    await pass(MINUTE_MS)
    const [at, expired] = [new Date(T0).toISOString(), new Date(T0 + HOUR_MS).toISOString()]
    const person = { workspace_id: owner.workspaceId, user_id: owner.userId, role: 'admin', created_at: at, expires_at: expired } as const
    const { kysely } = database
    const file = { workspace_id: owner.workspaceId, filename: 'a', mime_type: 'text/plain', size_bytes: 1, created_at: at }
    await kysely
      .insertInto('files')
      .values([
        { id: 'begun', complete: 0, ...file },
        { id: 'whole', complete: 1, ...file },
      ])
      .execute()
    await kysely
      .insertInto('generation_contents')
      .values({ id: 'g', workspace_id: owner.workspaceId, created_at: at, expires_at: expired, sealed: '' })
      .execute()
    await kysely
      .insertInto('login_links')
      .values({ id: 'l', digest: 'l', ...person })
      .execute()
    const session = { csrf_digest: '', key_hash: null, user_agent: null, last_used_at: at, ends_at: expired }
    await kysely
      .insertInto('sessions')
      .values({ id: 's', digest: 's', ...session, ...person })
      .execute()
    const trace = { destination_id: 'd', sealed: '', held_by: 'n', held_until: at }
    await kysely
      .insertInto('traces_waiting')
      .values({ id: 't', created_at: at, ...trace })
      .execute()
    const code = {
      callback_url: null,
      code_challenge: null,
      code_challenge_method: null,
      key_settings: '{}',
      used_at: null,
      key_hash: null,
    }
    const { workspaceId: workspace_id, userId: user_id } = owner
    await kysely
      .insertInto('oauth_codes')
      .values({ id: 'c', digest: 'c', workspace_id, user_id, created_at: at, expires_at: at, ...code })
      .execute()
    await kysely
      .insertInto('endpoint_slots')
      .values({ slot: at.slice(0, 16), endpoint: 'e', ok: 1, failed: 0 })
      .execute()
    await kysely
      .insertInto('guardrail_hours')
      .values({ guardrail_id: 'g', hour: at.slice(0, 13), rule: 'r', requests: 1 })
      .execute()

    const left = async (): Promise<readonly string[]> => {
      const tables = [
        'files',
        'generation_contents',
        'login_links',
        'sessions',
        'traces_waiting',
        'oauth_codes',
        'endpoint_slots',
        'guardrail_hours',
      ] as const
      const found = await Promise.all(
        tables.map(async (table) => {
          const query = kysely.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('rows'))
          return { table, rows: (await query.executeTakeFirstOrThrow()).rows }
        }),
      )
      return found.map(({ table, rows }) => `${table} ${rows}`)
    }
    const after = async (ms: number): Promise<readonly string[]> => {
      const before = await left()
      process.clock.setWall(T0 + ms - HOUR_MS)
      // Files are looked at every five minutes.
      await pass(HOUR_MS - 5 * MINUTE_MS)
      await pass(5 * MINUTE_MS)
      const now = await left()
      return before.filter((line) => !now.includes(line)).map((line) => line.slice(0, line.indexOf(' ')))
    }
    expect(await after(HOUR_MS - MINUTE_MS)).toEqual([])
    expect(await after(HOUR_MS + MINUTE_MS)).toEqual(['files', 'generation_contents', 'login_links', 'sessions'])
    expect(await after(2 * HOUR_MS - MINUTE_MS)).toEqual([])
    expect(await after(2 * HOUR_MS + MINUTE_MS)).toEqual(['traces_waiting'])
    expect(await after(DAY_MS - MINUTE_MS)).toEqual([])
    expect(await after(DAY_MS + MINUTE_MS)).toEqual(['oauth_codes'])
    expect(await after(2 * DAY_MS - MINUTE_MS)).toEqual([])
    expect(await after(2 * DAY_MS + HOUR_MS)).toEqual(['endpoint_slots', 'guardrail_hours'])
    expect((await kysely.selectFrom('files').select('id').execute()).map(({ id }) => id)).toEqual(['whole'])
  })

  test('the pieces of a file that is gone, within five minutes', async () => {
    const process = await start()
    process.clock.advance(HOUR_MS)
    const pieces = async () => (await database.kysely.selectFrom('file_pieces').select('position').execute()).length
    await becomes(pieces, 0)
    await database.kysely.insertInto('file_pieces').values({ file_id: 'gone', position: 0, sealed: '' }).execute()
    process.clock.advance(5 * MINUTE_MS)
    await becomes(pieces, 0)
  })

  test('after the retention of a new configuration file', async () => {
    const process = await start()
    process.service.reload(fileOf({ generations: { retention_days: 1 } }))
    await keptAfter(process, 3, [0, 0, 0])
  })
})
