/** Finding and rotating keys, and showing their limits (docs/contract/keys-and-workspaces.md#key-list). */
import { beforeAll, describe, expect, test } from 'bun:test'

import { call, infer, type Answer } from '../support/calls.ts'
import { openSession, signInAs, signInByKey } from '../support/signed-in.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()
const service = await services.start({ config: 'sandbox: true' })

interface Key {
  readonly hash: string
  readonly name: string
  readonly label: string
  readonly last_used_at: string | null
}
interface Made {
  readonly key: string
  readonly data: Key
}

const make = async (body: object): Promise<Made> => (await call(service, 'POST', '/keys', { body })).json as Made
const page = (answer: Answer) => answer.json as { data: readonly Key[]; next_cursor: string | null }
const list = async (query: string) => page(await call(service, 'GET', `/keys?${query}`))
const chat = (key: string, model = 'sandbox/echo') => infer(service, { model, messages: [{ role: 'user', content: 'Hi' }] }, { key })

describe('the list', () => {
  const names = ['list zeta', 'list Alpha', 'list 100%', 'list mid_dle', 'list beta']
  const made: Made[] = []
  beforeAll(async () => {
    for (const name of names) made.push(await make({ name }))
    await call(service, 'POST', '/workspaces/default/members/add', { body: { user_ids: ['lea'] } })
    made.push(await make({ name: 'of lea', creator_user_id: 'lea', kind: 'management' }))
    await call(service, 'PATCH', `/keys/${made[0]?.data.hash ?? ''}`, { body: { disabled: true } })
  })

  test('is paged by its cursor in every order, and shows each key once', async () => {
    for (const [sort, order] of [
      ['name', ['list 100%', 'list Alpha', 'list beta', 'list mid_dle', 'list zeta']],
      ['created_at', names.toReversed()],
      ['last_used_at', null],
    ] as const) {
      const seen: string[] = []
      let cursor = ''
      do {
        const { data, next_cursor } = await list(`q=list&status=all&limit=2&sort=${sort}${cursor}`)
        seen.push(...data.map(({ name }) => name))
        cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`
      } while (cursor !== '')
      expect(order === null ? seen.toSorted() : seen).toEqual(order === null ? [...names].toSorted() : [...order])
    }
  })

  test('finds a part of a name as it is written, a person, the last four characters, a hash', async () => {
    const found = async (q: string) => (await list(`status=all&q=${encodeURIComponent(q)}`)).data.map(({ name }) => name)
    expect(await found('ALPHA')).toEqual(['list Alpha'])
    expect(await found('100%')).toEqual(['list 100%'])
    expect(await found('d_d')).toEqual(['list mid_dle'])
    expect(await found('lea')).toEqual(['of lea'])
    expect(await found(made[4]?.key.slice(-4) ?? '')).toContain('list beta')
    expect(await found(made[4]?.data.hash ?? '')).toEqual(['list beta'])
  })

  test('can be filtered by kind, status and person', async () => {
    const of = async (query: string) => (await list(query)).data.map(({ name }) => name)
    expect(await of('user_id=lea')).toEqual(['of lea'])
    expect(await of('user_id=lea&kind=inference')).toEqual([])
    expect(await of('q=list&status=disabled')).toEqual(['list zeta'])
    expect(await of('q=list&status=active')).not.toContain('list zeta')
    expect(await of('q=list')).not.toContain('list zeta')
    expect(await of('q=list&include_disabled=true')).toContain('list zeta')
    expect(await of('q=list&status=expired')).toEqual([])
  })

  test('400: an invalid status, order, limit or cursor', async () => {
    const { next_cursor: named } = await list('limit=1&sort=name')
    for (const query of ['status=x', 'sort=x', 'kind=x', 'limit=0', 'limit=101', 'cursor=x', 'cursor=W10', `cursor=${named ?? ''}`]) {
      expect((await call(service, 'GET', `/keys?${query}`)).status).toBe(400)
    }
  })

  test('shows a member only the member’s own keys, by list and by hash', async () => {
    const member = await signInAs(service, { user_id: 'lea' })
    expect(page(await member.ask('GET', '/keys?status=all')).data.map(({ name }) => name)).toEqual(['of lea'])
    expect(page(await member.ask('GET', '/keys?status=all&q=list')).data).toEqual([])
    expect((await member.ask('GET', `/keys/${made[5]?.data.hash ?? ''}`)).status).toBe(200)
    expect((await member.ask('GET', `/keys/${made[1]?.data.hash ?? ''}`)).status).toBe(404)
    expect((await member.ask('POST', `/keys/${made[5]?.data.hash ?? ''}/rotate`, { body: {} })).status).toBe(403)
    expect((await member.ask('DELETE', `/keys/${made[5]?.data.hash ?? ''}`)).status).toBe(403)
  })
})

describe('the last use', () => {
  test('of a key of either kind is shown, and survives a restart', async () => {
    const own = await services.start()
    const read = async (where: StartedService, key: string): Promise<readonly Key[]> =>
      page(await call(where, 'GET', '/keys', { key })).data
    expect((await read(own, own.managementKey)).find(({ name }) => name === 'First inference key')?.last_used_at).toBeNull()
    await infer(own, { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] })
    const used = await read(own, own.managementKey)
    for (const { last_used_at: at } of used) expect(Math.abs(Date.now() - Date.parse(at ?? ''))).toBeLessThan(600_000)
    await own.stop()
    const again = await services.start({ dataDir: own.dataDir })
    const kept = await read(again, own.managementKey)
    expect(kept.find(({ name }) => name === 'First inference key')?.last_used_at).toBe(
      used.find(({ name }) => name === 'First inference key')?.last_used_at ?? '',
    )
  })
})

describe('a rotated key', () => {
  test('has a new secret under the same hash; the previous one works during its grace period, and not afterwards', async () => {
    const { key, data } = await make({ name: 'to rotate', limit: 3 })
    expect((await chat(key)).status).toBe(200)
    const rotated = (await call(service, 'POST', `/keys/${data.hash}/rotate`, { body: { grace_seconds: 3600 } })).json as Made
    expect(rotated.data).toMatchObject({ hash: data.hash, name: 'to rotate', limit: 3 })
    expect(rotated.key).not.toBe(key)
    expect(rotated.data.label).toEndWith(rotated.key.slice(-4))
    for (const one of [key, rotated.key]) expect((await chat(one)).status).toBe(200)
    const again = (await call(service, 'POST', `/keys/${data.hash}/rotate`, { body: {} })).json as Made
    expect((await chat(key)).status).toBe(401)
    expect((await chat(rotated.key)).status).toBe(401)
    expect((await chat(again.key)).status).toBe(200)
  })

  test('ends the sessions that the key opened, except the one that rotates it; the previous secret opens none', async () => {
    const { key, data } = await make({ name: 'leaked', kind: 'management' })
    const [thief, owner] = [await signInByKey(service, key), await signInByKey(service, key)]
    const rotated = (await owner.ask('POST', `/keys/${data.hash}/rotate`, { body: { grace_seconds: 3600 } })).json as Made
    expect((await thief.ask('GET', '/keys')).status).toBe(401)
    expect((await owner.ask('GET', '/keys')).status).toBe(200)
    const refused = await openSession(service, { key })
    expect([refused.status, refused.error.message]).toEqual([
      401,
      'This key was replaced by a rotation, and works only until its grace period ends. Sign in with the new one.',
    ])
    expect((await openSession(service, { key: rotated.key })).status).toBe(201)
  })

  test('keeps what it may spend and call', async () => {
    const { data } = await make({ name: 'bound', allowed_models: ['sandbox/echo'] })
    const { key } = (await call(service, 'POST', `/keys/${data.hash}/rotate`, { body: {} })).json as Made
    expect((await chat(key)).status).toBe(200)
    expect((await chat(key, 'sandbox/lorem')).status).toBeGreaterThanOrEqual(400)
  })

  test('expires when its grace ends', async () => {
    const { key, data } = await make({ name: 'short grace' })
    await call(service, 'POST', `/keys/${data.hash}/rotate`, { body: { grace_seconds: 1 } })
    await until(async () => (await chat(key)).status === 401, 'the end of the grace', 30_000)
  })

  test('404 for an unknown one, 400 for an invalid grace period, 403 for an inference key', async () => {
    expect((await call(service, 'POST', `/keys/${'ab'.repeat(32)}/rotate`, { body: {} })).status).toBe(404)
    const { key, data } = await make({ name: 'x' })
    expect((await call(service, 'POST', `/keys/${data.hash}/rotate`, { body: { grace_seconds: -1 } })).status).toBe(400)
    expect((await call(service, 'POST', `/keys/${data.hash}/rotate`, { key, body: {} })).status).toBe(403)
  })
})

test('a key that may call some models cannot call or list others', async () => {
  const { key, data } = await make({ name: 'some models', allowed_models: ['sandbox/e*'] })
  expect(data).toMatchObject({ allowed_models: ['sandbox/e*'] })
  expect((await chat(key)).status).toBe(200)
  const refused = await chat(key, 'sandbox/lorem')
  expect(refused.status).toBeGreaterThanOrEqual(400)
  const models = (await call(service, 'GET', '/models', { key })).json as { data: readonly { id: string }[] }
  expect(models.data.map(({ id }) => id)).toContain('sandbox/echo')
  expect(models.data.filter(({ id }) => !id.startsWith('sandbox/e'))).toEqual([])
})

test('a key shows every limit that applies to it, the tightest first, with what is held and when it resets', async () => {
  const own = await services.start({ config: 'budgets: { credits: true }' })
  await call(own, 'POST', '/workspaces', { body: { name: 'x', slug: 'bounded' } })
  await call(own, 'PUT', '/workspaces/bounded/budgets/daily', { body: { limit_usd: 1 } })
  await call(own, 'PUT', '/workspaces/bounded/budgets/monthly', { body: { limit_usd: 50 } })
  await call(own, 'POST', '/credits', { body: { amount_usd: 9, workspace_id: 'bounded' } })
  const body = { name: 'in the chain', workspace_id: 'bounded', limit: 20, limit_reset: 'monthly' }
  const { data } = (await call(own, 'POST', '/keys', { body })).json as Made
  const shown = (await call(own, 'GET', `/keys/${data.hash}`)).json as { data: { limits: readonly Record<string, unknown>[] } }
  expect(shown.data.limits.map(({ scope, remaining_usd, held_usd }) => [scope, remaining_usd, held_usd])).toEqual([
    ['workspace', 1, 0],
    ['credits', 9, 0],
    ['key_limit', 20, 0],
    ['workspace', 50, 0],
  ])
  expect(shown.data.limits.map(({ resets_at }) => resets_at === null)).toEqual([false, true, false, false])
})
