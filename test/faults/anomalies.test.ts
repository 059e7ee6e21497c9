/**
 * Fails the N-th call of a port, for N = 1, 2, 3 …, until a run has no N-th call. The service is composed as usual, on a SQLite file; each
 * run is a new process with cold caches, on the data that the runs before have left.
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'

import type { Kysely, KyselyPlugin } from 'kysely'

import { composeService } from '../../src/compose/service.ts'
import { configFileSchema } from '../../src/config-file.ts'
import { UNBOUNDED } from '../../src/keys/keys.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { makeRootSecret } from '../../src/root-secret.ts'
import type { Database } from '../../src/storage/database.ts'
import { openJournal, type Journal } from '../../src/storage/journal.ts'
import { auditLedger } from '../../src/storage/ledger/ledger-audit.ts'
import type { Schema } from '../../src/storage/tables/schema.ts'
import { StorageUnavailable } from '../../src/storage/storage-errors.ts'
import { basePartsOf } from '../support/base-parts.ts'
import { changedBy } from '../support/changed-by.ts'
import { createFakeClock, T0, turn, type FakeClock } from '../support/fake-clock.ts'
import { type Exchange, startFakeUpstream } from '../support/fake-upstream.ts'
import { openSqliteDatabase } from '../support/sqlite-database.ts'

const upstream = await startFakeUpstream()
const { database, owner, dataDir } = await openSqliteDatabase()
const secret = makeRootSecret(dataDir)
const FILE = configFileSchema.parse({
  providers: { fake: { dialects: ['openai-chat'], base_url: upstream.url, api_key: 'k' } },
  models: { 'fake/one': { endpoints: [{ provider: 'fake', model: 'one', prices: { prompt: 1, completion: 2 } }] } },
})
const COST_NANOS = 30 * 1000 + 2 * 4 * 1000

/** Counts the calls of a port, and fails one of them. */
interface Fault {
  /** True for the call that fails. */
  strikes(): boolean
  readonly calls: number
}

const faultAt = (number: number): Fault => {
  let calls = 0
  return {
    strikes() {
      calls += 1
      return calls === number
    },
    get calls() {
      return calls
    },
  }
}

const never = (): Fault => faultAt(Number.POSITIVE_INFINITY)

/** Fails a query before it runs, or after it, when nobody can tell whether it took effect; also fails a commit without an answer. */
const failingDatabase = (fault: Fault): Database => {
  const refuse = (): void => {
    if (fault.strikes()) throw new StorageUnavailable('The database does not answer.')
  }
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      refuse()
      return node
    },
    async transformResult({ result }) {
      refuse()
      return result
    },
  }
  const failing: Kysely<Schema> = database.kysely.withPlugin(plugin)
  return {
    ...database,
    kysely: failing,
    async transaction(work, durability) {
      const result = await database.transaction((transaction) => work(transaction.withPlugin(plugin)), durability)
      refuse()
      return result
    },
    async ping() {
      refuse()
      await database.ping()
    },
    async close() {},
  }
}

const failingJournal = (fault: Fault, journal: Journal): Journal => {
  const refuse = (): void => {
    if (fault.strikes()) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  return {
    ...journal,
    append(entries) {
      refuse()
      return journal.append(entries)
    },
    written(segment) {
      journal.written(segment)
      refuse()
    },
  }
}

const HOUR_MS = 60 * 60 * 1000

/** A timer fires at once, or the wall clock jumps forward by an hour and back again. */
const failingClock = (fault: Fault, clock: FakeClock): Clock => ({
  ...clock,
  now: () => {
    if (fault.strikes()) clock.setWall(clock.now() + (fault.calls % 2 === 0 ? HOUR_MS : -HOUR_MS))
    return clock.now()
  },
  monotonicMs: clock.monotonicMs,
  after: (delayMs, task) => clock.after(fault.strikes() ? 0 : delayMs, task),
})

/** The connection may break at each step of an exchange. */
const failingProvider =
  (fault: Fault) =>
  async (exchange: Exchange): Promise<void> => {
    const step = async (act: () => Promise<void>): Promise<boolean> => {
      if (fault.strikes()) {
        exchange.reset()
        return false
      }
      await act()
      return true
    }
    const chunk = (delta: object, more: object = {}): string =>
      JSON.stringify({
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'one',
        choices: [{ index: 0, delta, finish_reason: null, ...more }],
      })
    const usage = { prompt_tokens: 30, completion_tokens: 4, total_tokens: 34 }
    if (exchange.body.stream !== true) {
      const message = { role: 'assistant', content: 'Hello there' }
      const answer = {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'one',
        usage,
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      }
      await step(() => exchange.answer(200, JSON.stringify(answer), { 'content-type': 'application/json' }))
      return
    }
    const events = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hello' }),
      chunk({ content: ' there' }),
      chunk({}, { finish_reason: 'stop' }),
      JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'one', choices: [], usage }),
      '[DONE]',
    ]
    if (!(await step(() => exchange.head(200, { 'content-type': 'text/event-stream' })))) return
    for (const event of events) if (!(await step(() => exchange.piece(`data: ${event}\n\n`)))) return
    await step(() => exchange.done())
  }

interface Answer {
  readonly status: number
  readonly text: string
}

interface Faults {
  readonly storage: Fault
  readonly file: Fault
  readonly clock: Fault
  readonly network: Fault
}

let processes = 0

/** Runs a process of the service, which starts a quarter of an hour after the one before it. */
const withService = async (
  faults: Faults,
  work: (ask: (key: string, path: string, body: object) => Promise<Answer>) => Promise<void>,
): Promise<void> => {
  processes += 1
  const clock = createFakeClock(T0 + processes * (HOUR_MS / 4))
  const journal = openJournal(join(dataDir, 'journal'), { pid: processes, isAlive: () => false })
  const base = basePartsOf(
    { database: failingDatabase(faults.storage), owner, secret },
    { clock: failingClock(faults.clock, clock), journal: failingJournal(faults.file, journal) },
  )
  upstream.script(failingProvider(faults.network))
  const service = await composeService(base, FILE, null, {})
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 30; turns += 1) {
      await turn()
      clock.advance(20)
    }
  }
  try {
    await work(async (key, path, body) => {
      const answering = service.app.answer(
        new Request(`http://host/api/v1${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      )
      let over = false
      const read = answering
        .then(async (response) => ({ status: response.status, text: await response.text().catch(() => 'broken') }))
        .finally(() => (over = true))
      const exchanges = upstream.exchanges.length
      let sinceMs = performance.now()
      while (!over) {
        await turn()
        const nowMs = performance.now()
        // Once bytes are on the way, time passes no faster than in reality, or the provider would seem slow on a busy machine.
        const isAsked = upstream.exchanges.length > exchanges
        clock.advance(isAsked ? Math.min(1, nowMs - sinceMs) : 1)
        sinceMs = nowMs
      }
      const answer = await read
      await settle()
      return answer
    })
  } finally {
    const closing = service.close()
    let closed = false
    const ended = closing.catch(() => undefined).finally(() => (closed = true))
    while (!closed) {
      await turn()
      clock.advance(50)
    }
    await ended
  }
}

/** One key of each kind, known to every process. */
const makeKeys = async () => {
  const { keys } = await composeService(
    basePartsOf({ database: failingDatabase(never()), owner, secret }, { clock: createFakeClock() }),
    FILE,
    null,
    {},
  )
  const create = (kind: 'management' | 'inference', limitNanos: number | null) =>
    keys.create({ kind, name: kind, workspaceId: owner.workspaceId, creatorUserId: owner.userId, ...UNBOUNDED, limitNanos }, changedBy())
  const [spender, manager] = [await create('inference', 10 ** 12), await create('management', null)]
  return { spender: spender.key, manager: manager.key, spenderHash: spender.record.hash }
}
const keys = await makeKeys()

const QUESTION = { model: 'fake/one', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 }

/** The requests of people in a minute. Returns the answer to each. */
const aMinute = async (faults: Faults): Promise<readonly Answer[]> => {
  const answers: Answer[] = []
  await withService(faults, async (ask) => {
    answers.push(await ask(keys.spender, '/chat/completions', { ...QUESTION, stream: true }))
    answers.push(await ask(keys.spender, '/chat/completions', QUESTION))
    answers.push(await ask(keys.manager, '/presets/anomaly/chat/completions', { ...QUESTION, temperature: 0.5 }))
    answers.push(await ask(keys.manager, '/keys', { name: 'another', limit: 1 }))
  }).catch((thrown: unknown) => {
    // A process that cannot read its database at the start exits with a message and serves nobody.
    if (!(thrown instanceof StorageUnavailable)) throw thrown
  })
  return answers
}

const quiet = (): Faults => ({ storage: never(), file: never(), clock: never(), network: never() })

/** An answer is whole, an error of a known type, or a broken connection: never a partial answer that looks whole. */
const isHonest = ({ status, text }: Answer): boolean => {
  const failed = /"error"\s*:\s*\{/.test(text)
  if (status >= 300) return failed && status >= 400
  return failed || text === 'broken' || text.includes('[DONE]') || /"finish_reason":\s*"stop"|"designated_version"|"key":/.test(text)
}

/** The charge so far, and the number of charged requests. */
const books = async (): Promise<{ readonly nanos: number; readonly requests: number }> => {
  const rows = await database.kysely.selectFrom('key_usage_days').selectAll().where('key_hash', '=', keys.spenderHash).execute()
  return {
    nanos: rows.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0),
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
  }
}

const isWhole = ({ status, text }: Answer): boolean => status === 200 && text.includes('there') && !text.includes('"error"')

/** The cost in an answer; the last one counts. */
const reportedNanos = ({ text }: Answer): number => {
  const costs = [...text.matchAll(/"cost":\s*([\d.e-]+)/g)].map(([, cost]) => Math.round(Number(cost) * 1e9))
  const reported = costs.at(-1) ?? 0
  if (!(reported > 0)) throw new Error(`An answer told no cost: ${text}`)
  return reported
}

/** More calls than a minute has, so that the loop ends. */
const CALLS_MAX = 400

describe.each(['storage', 'network', 'clock', 'file'] as const)('%s', (port) => {
  test('whichever call fails: typed errors, no leaked hold, nothing charged twice, and the next process is well', async () => {
    for (let number = 1; number < CALLS_MAX; number += 1) {
      const fault = faultAt(number)
      const before = await books()
      const answers = await aMinute({ ...quiet(), [port]: fault })
      expect([number, answers.filter((answer) => !isHonest(answer))]).toEqual([number, []])
      // The next process writes what was left, and releases holds that have no request any more.
      await withService(quiet(), async (ask) => {
        const answer = await ask(keys.spender, '/chat/completions', QUESTION)
        expect([number, isWhole(answer)]).toEqual([number, true])
      })
      const after = await books()
      // Each whole answer is charged as it reported: by its usage, or by an estimate if the usage came too late.
      const charged = after.nanos - before.nanos
      const reported = answers.filter(isWhole).reduce((sum, answer) => sum + reportedNanos(answer), COST_NANOS)
      expect([number, charged >= reported, charged <= 3 * COST_NANOS]).toEqual([number, true, true])
      expect([number, await auditLedger(database, new Date(T0 + (processes + 400) * HOUR_MS).toISOString())]).toEqual([number, []])
      if (fault.calls < number) {
        // This run had no such call, so all calls have failed once.
        expect([port, number > 3]).toEqual([port, true])
        console.log(`${port}: ${number - 1} calls, each failed once`)
        return
      }
    }
    throw new Error(`There were more than ${CALLS_MAX} calls.`)
  }, 300_000)
})
