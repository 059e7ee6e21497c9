/**
 * Two nodes on one PostgreSQL whose clocks stand still: neither ever polls, so whatever one
 * learns about the other came as a notification.
 */
import { expect, test } from 'bun:test'
import { sql } from 'kysely'

import { basePartsOf } from '../../test/support/base-parts.ts'
import { changedBy } from '../../test/support/changed-by.ts'
import { describeEachEngine } from '../../test/support/databases.ts'
import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { patient } from '../../test/support/patience.ts'
import { temporaryDirectory } from '../../test/support/sqlite-database.ts'
import { configFileSchema } from '../config-file.ts'
import { UNBOUNDED } from '../keys/keys.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { makeRootSecret } from '../root-secret.ts'
import { bumpChangeCounter } from '../storage/changes/change-counter.ts'
import type { ChangeListener, Database } from '../storage/database.ts'
import { createWorkspaceStore } from '../storage/workspaces/workspace-store.ts'
import { askComposed } from './ask-composed.test-kit.ts'
import { composeService } from './service.ts'

const secret = makeRootSecret(temporaryDirectory())

const startNode = async (database: Database, node: string, owner: { workspaceId: string; userId: string }) => {
  const clock = createFakeClock()
  const { server } = database
  if (server === null) throw new Error('Nodes need a server.')
  // A failed connection is retried by a clock that runs.
  const listening = { ...server, listen: (_: Clock, listener: ChangeListener) => server.listen(systemClock, listener) }
  const base = basePartsOf({ database: { ...database, server: listening }, owner, secret }, { clock, node })
  const service = await composeService(base, configFileSchema.parse({}), null, { OPENAI_API_KEY: 'sk-test' })
  const ask = (key: string, method: string, path: string, body?: object): Promise<Response> =>
    askComposed(service, clock, { key, method, path, body })
  const close = async (): Promise<void> => {
    let isClosed = false
    const closing = service.close().finally(() => (isClosed = true))
    while (!isClosed) {
      await turn()
      clock.advance(50)
    }
    await closing
  }
  return { service, ask, close }
}

/** The time in milliseconds until the condition holds. */
const timeUntil = async (reached: () => Promise<boolean>, withinMs = 1000): Promise<number> => {
  const beganMs = performance.now()
  while (!(await reached())) {
    const passedMs = performance.now() - beganMs
    if (passedMs > patient(withinMs)) throw new Error(`It is not so after ${passedMs} ms.`)
    await turn()
  }
  return performance.now() - beganMs
}

describeEachEngine('told by the database alone', (engine) => {
  // A SQLite file is used by one process only.
  if (engine.name === 'sqlite') return

  test('a key that one node revokes is refused by the other, and a version that one saves is served by the other', async () => {
    const location = await engine.locate()
    const [ours, theirs] = [await engine.open(location), await engine.open(location)]
    const owner = await createWorkspaceStore(ours).ensureDefaults({
      workspaceId: crypto.randomUUID(),
      userId: crypto.randomUUID(),
      now: '2026-11-20T10:00:00.000Z',
    })
    const [here, there] = [await startNode(ours, 'here', owner), await startNode(theirs, 'there', owner)]
    const make = async (kind: 'management' | 'inference') => {
      const { workspaceId, userId: creatorUserId } = owner
      const { key, record } = await here.service.keys.create({ kind, name: kind, workspaceId, creatorUserId, ...UNBOUNDED }, changedBy())
      return { key, hash: record.hash }
    }
    const [manager, caller] = [await make('management'), await make('inference')]
    const save = (model: string) => here.ask(manager.key, 'POST', '/presets/told/chat/completions', { model, messages: [] })
    const chat = () =>
      there.ask(caller.key, 'POST', '/chat/completions', { model: '@preset/told', messages: [{ role: 'user', content: 'Hi' }] })

    expect((await save('sandbox/echo')).status).toBe(200)
    await timeUntil(async () => (await chat()).status === 200)
    expect((await save('sandbox/error/server')).status).toBe(200)
    const presetMs = await timeUntil(async () => (await (await chat()).text()).includes('"error"'))
    expect((await here.ask(manager.key, 'DELETE', `/keys/${caller.hash}`)).status).toBe(200)
    const keyMs = await timeUntil(async () => (await chat()).status === 401)
    console.log(`told within ${Math.ceil(presetMs)} ms and ${Math.ceil(keyMs)} ms`)
    await here.close()
    await there.close()
  })

  /** A node with an inference key, and a second connection to its database. */
  const startFirst = async () => {
    const location = await engine.locate()
    const [ours, theirs] = [await engine.open(location), await engine.open(location)]
    const owner = await createWorkspaceStore(ours).ensureDefaults({
      workspaceId: crypto.randomUUID(),
      userId: crypto.randomUUID(),
      now: '2026-11-20T10:00:00.000Z',
    })
    const here = await startNode(ours, 'here', owner)
    const { workspaceId, userId: creatorUserId } = owner
    const { key } = await here.service.keys.create({ kind: 'inference', name: 'x', workspaceId, creatorUserId, ...UNBOUNDED }, changedBy())
    return { ours, theirs, owner, here, key }
  }

  test('401 for a key that is revoked on the standby which takes the place of the server, though both have counted as many changes', async () => {
    const { ours, theirs, owner, here, key } = await startFirst()
    // Started later, so that no notification of the new key reaches it.
    const there = await startNode(theirs, 'there', owner)
    const list = async (): Promise<number> => (await there.ask(key, 'GET', '/models')).status
    expect(await list()).toBe(200)
    await sql`update api_keys set disabled = 1`.execute(ours.kysely)
    expect(await list()).toBe(200)
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen %'`.execute(ours.kysely)
    // It listens again after a second.
    await timeUntil(async () => (await list()) === 401, 5000)
    await here.close()
    await there.close()
  })

  test('a price list that another process imports while a node starts is in force on it', async () => {
    const { ours, theirs, owner, here, key } = await startFirst()
    const starting = await ours.kysely.transaction().execute(async (transaction) => {
      // The node has read the lists when it gets to the counter.
      await sql`lock table change_counter`.execute(transaction)
      const node = startNode(theirs, 'starting', owner)
      await timeUntil(async () => {
        const { rows } = await sql`select 1 from pg_locks where relation = 'change_counter'::regclass and not granted`.execute(ours.kysely)
        return rows.length > 0
      })
      await transaction
        .insertInto('catalogue_imports')
        .values({
          kind: 'litellm',
          as_of: '2026-11-20',
          imported_at: '2026-11-20T10:00:00.000Z',
          models: JSON.stringify({
            'openai/gpt-7-nova': { endpoints: [{ provider: 'openai', model: 'gpt-7-nova', prices: { prompt: 1, completion: 2 } }] },
          }),
        })
        .execute()
      await bumpChangeCounter(transaction)
      return { node }
    })
    const node = await starting.node
    expect((await node.ask(key, 'GET', '/models/openai/gpt-7-nova')).status).toBe(200)
    await node.close()
    await here.close()
  })
})
