/** Lists without a total (docs/contract/management.md#lists). */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { expect, test } from 'bun:test'

import { type Answer, call, infer } from '../support/calls.ts'
import { until, useServices } from '../support/started-service.ts'

const services = useServices()

interface Page {
  readonly data: readonly { readonly id: string; readonly slug?: string }[]
  readonly total_count?: number
  readonly next_cursor?: string | null
}

test('count=false omits the total, and a cursor continues with the same rows in the same order', async () => {
  const service = await services.start()
  const ask = (path: string, body?: unknown): Promise<Response> =>
    fetch(service.api + path, {
      headers: { authorization: `Bearer ${service.managementKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
  for (const slug of ['one', 'two', 'three', 'four'])
    await ask(`/presets/${slug}/chat/completions`, { model: 'sandbox/echo', messages: [] })
  for (const path of ['/presets?status=active', '/presets?q=o', '/audit-log?object_type=preset', '/audit-log?']) {
    const whole = (await (await ask(path)).json()) as Page
    expect(whole.total_count).toBe(whole.data.length)
    const seen: Page['data'][number][] = []
    for (let cursor = ''; ;) {
      const page = (await (await ask(`${path}&count=false&limit=2&cursor=${cursor}`)).json()) as Page
      expect(Object.keys(page).toSorted()).toEqual(['data', 'next_cursor'])
      seen.push(...page.data)
      if (page.next_cursor === null || page.next_cursor === undefined) break
      cursor = page.next_cursor
    }
    expect(seen).toEqual([...whole.data])
  }
  expect((await ask('/presets?count=no')).status).toBe(400)
  expect((await ask('/presets?count=false&cursor=x')).status).toBe(400)
})

test('if too many rows would be read, a page has no total, and an offset is a 400 that names the cursor', async () => {
  const service = await services.start()
  const get = async (path: string): Promise<Answer> => call(service, 'GET', path)
  const [workspace] = ((await get('/workspaces')).json as Page).data
  const database = new Database(join(service.dataDir, 'patchbay.db'))
  database.run('pragma busy_timeout = 10000')
  database.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 50001)
      insert into audit_log (id, created_at, workspace_id, action, object_type, object_id)
      select 'entry-' || i, '2026-01-01T00:00:00.000Z', ?, 'updated', 'preset', 'p' from n`,
    [workspace?.id ?? ''],
  )
  database.close()
  expect((await get('/audit-log')).json).toMatchObject({ total_count: expect.any(Number) })
  const page = (await get('/audit-log?action=updated&limit=2')).json as Page
  expect([Object.keys(page).toSorted(), page.data.length, typeof page.next_cursor]).toEqual([['data', 'next_cursor'], 2, 'string'])
  for (const path of ['/audit-log?action=updated&offset=2', '/keys?offset=50001'])
    expect(await get(path)).toMatchObject({ status: 400, json: { error: { metadata: { reason: expect.stringContaining('`cursor`') } } } })
  expect((await get('/keys?offset=50001&include_disabled=true')).status).toBe(200)
})

test('a cursor reveals nothing of the row at which its page ended, and works only in its own list', async () => {
  const service = await services.start()
  for (const name of ['first', 'second', 'third']) await call(service, 'POST', '/keys', { body: { name: `secret ${name}` } })
  for (const text of ['one', 'two']) {
    await infer(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: text }] })
  }
  const lists = ['/keys?', '/keys?sort=name&', '/keys?sort=last_used_at&', '/audit-log?', '/audit-log?count=false&', '/generations?']
  const page = async (list: string, cursor = ''): Promise<Answer> => call(service, 'GET', `${list}limit=1&cursor=${cursor}`)
  await until(async () => ((await call(service, 'GET', '/generations')).json as Page).data.length === 2, 'the records')
  const cursors: string[] = []
  for (const list of lists) {
    const { data, next_cursor } = (await page(list)).json as Page
    const cursor = next_cursor ?? ''
    expect(cursor).toMatch(/^[\w-]+$/)
    const decoded = Buffer.from(cursor, 'base64url').toString('latin1')
    for (const value of Object.values(data[0] ?? {})) {
      if (typeof value === 'string' && value.length > 3) expect(decoded.toLowerCase()).not.toContain(value.toLowerCase())
    }
    expect(decoded).not.toMatch(/20\d\d-/)
    expect(((await page(list, cursor)).json as Page).data[0]).not.toEqual(data[0])
    cursors.push(cursor)
  }
  const plain = Buffer.from(JSON.stringify(['2026-01-01T00:00:00.000Z', 'x'])).toString('base64url')
  for (const cursor of [plain, cursors.at(-1), cursors[3]?.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')), '-']) {
    const { status, error } = await page('/audit-log?', cursor)
    const message = 'This is no cursor of a list: pass on `next_cursor` as it was answered.'
    expect({ status, issues: error.metadata?.['issues'] }).toEqual({ status: 400, issues: [{ path: 'cursor', message }] })
  }
})
