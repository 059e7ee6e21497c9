/**
 * kill -9 at any moment: while a database is migrated, while presets are made, while answers are streamed and settled. TEST_KILLS sets how
 * often.
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

import { systemClock } from '../../src/lib/clock.ts'
import { systemIds } from '../../src/lib/id.ts'
import { migrationsFor } from '../../src/storage/tables/schema.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { makeOlderDatabase } from '../../src/storage/testing/older-databases.ts'
import { call, infer } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { seeded } from '../support/seeded.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const KILLS = Number(process.env['TEST_KILLS'] ?? 4)
const SEED = 7
const LIMIT_MS = 60_000 + KILLS * 20_000

const services = useServices()
const upstream = await startFakeUpstream()
const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
/** At 1 and 2 dollars per million tokens. */
const COST = 0.0012

upstream.script(async (exchange) => {
  const chunk = (delta: object, more: object = {}): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'one', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`
  await exchange.head(200, { 'content-type': 'text/event-stream' })
  await exchange.piece(chunk({ role: 'assistant', content: 'Hello' }))
  await Bun.sleep(5)
  await exchange.piece(chunk({}, { finish_reason: 'stop' }))
  await exchange.piece(
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'one', choices: [], usage })}\n\ndata: [DONE]\n\n`,
  )
  await exchange.done()
})

const config = `providers:
  priced: { name: Priced, dialects: [openai-chat], base_url: ${upstream.url} }
models:
  priced/one: { endpoints: [{ provider: priced, model: one, prices: { prompt: 1, completion: 2 } }] }
`

/** If the server was too busy to take a connection, the start has done nothing, so it is repeated. */
const startAgain = async (dataDir: string, flags: readonly string[]): Promise<StartedService> => {
  try {
    return await services.start({ dataDir, flags })
  } catch (thrown) {
    if (thrown instanceof Error && thrown.message.includes('cannot be reached')) return startAgain(dataDir, flags)
    throw thrown
  }
}

describeEachEngine('kill -9', (engine) => {
  test(
    `${KILLS} times amid presets, streams and settlements: nothing acknowledged is lost, nothing is charged twice, no hold stays`,
    async () => {
      const random = seeded(SEED)
      const { databaseUrl } = await engine.locate()
      const flags = databaseUrl === null ? [] : ['--database-url', databaseUrl]
      let service = await services.start({ config, flags })
      const { managementKey, dataDir } = service
      const made = (await call(service, 'POST', '/keys', { body: { name: 'spender', limit: 1000 } })).json as {
        key: string
        data: { hash: string }
      }
      const versions = new Set<number>()
      let answered = 0
      let asked = 0

      const work = async (on: StartedService, isOver: () => boolean): Promise<void> => {
        while (!isOver()) {
          const isPreset = random() < 0.3
          try {
            if (isPreset) {
              const { status, json } = await call(on, 'POST', '/presets/killed/messages', { body: { model: 'priced/one', max_tokens: 10 } })
              if (status === 200)
                versions.add((json as { data: { designated_version: { version: number } } }).data.designated_version.version)
            } else {
              asked += 1
              const body = { model: 'priced/one', stream: true, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }
              const answer = await infer(on, body, { key: made.key })
              if (answer.text.trimEnd().endsWith('data: [DONE]') && !answer.text.includes('"error"')) answered += 1
            }
          } catch {
            return // Its process was killed.
          }
        }
      }

      for (let kill = 0; kill < KILLS; kill += 1) {
        let over = false
        const running = { ...service, managementKey }
        const workers = Array.from({ length: 6 }, () => work(running, () => over))
        await Bun.sleep(20 + random() * 400)
        // On a busy machine nothing may have been answered by now, and a kill before that would show little.
        await until(() => answered >= kill + 2, 'some answers')
        service.signal('SIGKILL')
        over = true
        await service.exited
        await Promise.all(workers)
        service = await services.start({ config, dataDir, flags })
      }

      const last = { ...service, managementKey }
      const found = (await call(last, 'GET', '/presets/killed')).json as { data: { designated_version: { version: number } } }
      expect(found.data.designated_version.version).toBeGreaterThanOrEqual(Math.max(...versions))
      const used = async (): Promise<number> =>
        ((await call(last, 'GET', `/keys/${made.data.hash}`)).json as { data: { usage: number } }).data.usage
      await until(async () => (await used()) >= answered * COST - 1e-9, 'the answers to be charged')
      // A request in flight when its process was killed may be charged at its hold, once.
      expect(await used()).toBeLessThanOrEqual(asked * COST + 1e-9)
      expect(answered).toBeGreaterThan(KILLS)
      expect(await service.stop()).toBe(0)
      const audit = await services.run(['ledger', 'audit', '--data-dir', dataDir, ...flags])
      expect([audit.code, audit.stdout]).toEqual([0, expect.not.stringContaining('WRONG')])
    },
    LIMIT_MS,
  )

  test(
    `${KILLS} times while a database of an earlier version is brought up to date: the next start finishes it, with all rows`,
    async () => {
      const random = seeded(SEED)
      const names = Object.keys(migrationsFor(engine.name))
      // As long as a start takes on this machine, so that kills come at each moment of it.
      let wholeMs = 300
      for (let kill = 0; kill < KILLS; kill += 1) {
        const location = await engine.locate()
        const { databaseUrl, dataDir } = location
        const connection =
          databaseUrl === null
            ? openSqlite({ clock: systemClock, ids: systemIds, dataDir, exclusive: false, onError: () => undefined })
            : await openPostgres({ databaseUrl, onError: () => undefined })
        await makeOlderDatabase(connection, names.slice(0, 1 + Math.floor(random() * (names.length - 1))))
        await connection.close()
        const place = databaseUrl === null ? dataDir : join(services.directory(), 'data')
        const flags = databaseUrl === null ? [] : ['--database-url', databaseUrl]
        const child = Bun.spawn([join(import.meta.dirname, '../../bin/patchbay'), 'serve', '--port', '0', '--data-dir', place, ...flags], {
          stdout: 'ignore',
          stderr: 'ignore',
        })
        await Bun.sleep(random() * wholeMs)
        child.kill('SIGKILL')
        await child.exited
        const next = await startAgain(place, flags)
        wholeMs = next.readyMs
        expect(await next.stop()).toBe(0)
        const audit = await services.run(['ledger', 'audit', '--data-dir', place, ...flags])
        expect([audit.code, audit.stderr]).toEqual([0, ''])
        const database = await engine.open(location)
        expect(await database.kysely.selectFrom('preset_versions').select('version').orderBy('version').execute()).toEqual([
          { version: 1 },
          { version: 2 },
        ])
        await database.close()
      }
    },
    LIMIT_MS,
  )
})
