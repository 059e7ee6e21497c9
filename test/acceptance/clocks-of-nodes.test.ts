/** Two nodes on one PostgreSQL, one of which has a clock that is two days ahead (docs/nodes.md#clocks). */
import { join } from 'node:path'

import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'

import { call, type CallOptions } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { loginToken, openSession, signedIn } from '../support/signed-in.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()
const TWO_DAYS_MS = 2 * 86_400_000
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

describeEachEngine('two nodes whose clocks differ by two days', (engine) => {
  // A SQLite file can only be used by one process.
  if (engine.name === 'sqlite') return

  const start = async (): Promise<readonly [StartedService, StartedService]> => {
    const { databaseUrl } = await engine.locate()
    const shared = { config: 'oauth: { enabled: true }', flags: ['--database-url', databaseUrl ?? ''] }
    const right = await services.start(shared)
    const preload = `--preload=${join(import.meta.dir, '../support/programs/clock-ahead.ts')}`
    const env = { BUN_OPTIONS: preload, CLOCK_AHEAD_MS: String(TWO_DAYS_MS) }
    const ahead = await services.start({ ...shared, dataDir: right.dataDir, env })
    await until(() => ahead.stderr().includes('"seconds":172'), 'the difference of the clocks in the log')
    const { managementKey, inferenceKey } = right
    return [right, { ...ahead, managementKey, inferenceKey }]
  }

  test('finish what the other began: repeated changes, sign-in links, sessions and codes', async () => {
    const [right, ahead] = await start()
    const once: CallOptions = { body: { name: 'made once' }, headers: { 'idempotency-key': 'k' } }
    const made = (await call(right, 'POST', '/keys', once)).json
    expect((await call(ahead, 'POST', '/keys', once)).json).toEqual(made)
    expect((await call(right, 'POST', '/keys', once)).json).toEqual(made)

    const save: CallOptions = {
      body: { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] },
      headers: { 'idempotency-key': 'k' },
    }
    const saved = (await call(right, 'POST', '/presets/bot/chat/completions', save)).json
    expect(saved).toMatchObject({ data: { designated_version: { version: 1 } } })
    expect((await call(ahead, 'POST', '/presets/bot/chat/completions', save)).json).toEqual(saved)

    for (const [one, other] of [
      [right, ahead],
      [ahead, right],
    ] as const) {
      const opened = await openSession(other, { token: await loginToken(one, { user_id: 'ada', role: 'admin' }) })
      expect(opened.status).toBe(201)
      const { headers } = signedIn(other, opened)
      for (const node of [one, other]) expect((await call(node, 'GET', '/sessions', { key: null, headers })).status).toBe(200)

      const challenge = createHash('sha256').update(VERIFIER).digest('base64url')
      const body = { callback_url: 'https://app.example.com/done', code_challenge: challenge, code_challenge_method: 'S256' }
      const { data } = (await call(one, 'POST', '/auth/keys/code', { body })).json as { data: { id: string } }
      const got = await call(other, 'POST', '/auth/keys', { key: null, body: { code: data.id, code_verifier: VERIFIER } })
      expect(got.status).toBe(200)
    }
  })
})
