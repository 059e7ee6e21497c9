/** Members have roles, names and addresses (docs/contract/keys-and-workspaces.md#members). */
import { expect, test } from 'bun:test'

import { call, type Answer } from '../support/calls.ts'
import { signInAs, signInByKey } from '../support/signed-in.ts'
import { useServices } from '../support/started-service.ts'

const service = await useServices().start()

const dataOf = ({ json }: Answer): Record<string, unknown> => (json as { data: Record<string, unknown> }).data
const patch = (userId: string, body: object, workspace = 'default') =>
  call(service, 'PATCH', `/workspaces/${workspace}/members/${encodeURIComponent(userId)}`, { body })

test('whoever made the installation is its first member, as an admin', async () => {
  const { json } = await call(service, 'GET', '/workspaces/default/members')
  expect(json).toMatchObject({ data: [{ role: 'admin', name: 'Owner' }] })
})

test('a member can get another role, name and address; absent fields stay unchanged', async () => {
  await call(service, 'POST', '/workspaces/default/members/add', { body: { user_ids: ['ada/x y'] } })
  expect(dataOf(await patch('ada/x y', { name: 'Ada', email: 'ada@example.com' }))).toMatchObject({ role: 'member', name: 'Ada' })
  expect(dataOf(await patch('ada/x y', { role: 'admin' }))).toMatchObject({ role: 'admin', name: 'Ada', email: 'ada@example.com' })
  expect(dataOf(await patch('ada/x y', { name: null }))).toMatchObject({ role: 'admin', name: null, email: 'ada@example.com' })
  const [entry] = ((await call(service, 'GET', '/audit-log?object_type=member&object_id=ada%2Fx%20y')).json as { data: object[] }).data
  expect(entry).toMatchObject({ action: 'updated', before: { name: 'Ada' }, after: { name: null, role: 'admin' } })
})

test.each(['add', 'remove', 'añadir', '%2f'])('a member can be called %p', async (userId) => {
  await call(service, 'POST', '/workspaces/default/members/add', { body: { user_ids: [userId] } })
  expect(dataOf(await patch(userId, { role: 'admin', name: ' Ada ' }))).toMatchObject({ user_id: userId, role: 'admin', name: 'Ada' })
  const removed = await call(service, 'POST', '/workspaces/default/members/remove', { body: { user_ids: [userId] } })
  expect(removed.json).toEqual({ removed_count: 1 })
})

test('a change to what a member is already has no entry in the audit log', async () => {
  await call(service, 'POST', '/workspaces/default/members/add', { body: { user_ids: ['same'] } })
  await patch('same', { role: 'admin', name: 'Ada' })
  for (const body of [{ role: 'admin' }, { name: 'Ada', email: null }, {}]) {
    expect(dataOf(await patch('same', body))).toMatchObject({ role: 'admin', name: 'Ada', email: null })
  }
  const { data } = (await call(service, 'GET', '/audit-log?object_type=member&object_id=same')).json as { data: object[] }
  expect(data).toHaveLength(1)
})

test('another role ends the sessions of the person; another name does not', async () => {
  const person = await signInAs(service, { user_id: 'bo' })
  await patch('bo', { name: 'Bo' })
  expect((await person.ask('GET', '/sessions/current')).status).toBe(200)
  await patch('bo', { role: 'member' })
  expect((await person.ask('GET', '/sessions/current')).status).toBe(200)
  await patch('bo', { role: 'admin' })
  expect((await person.ask('GET', '/sessions/current')).status).toBe(401)
  // Restoring the old role does not restore the sessions.
  await patch('bo', { role: 'member' })
  expect((await person.ask('GET', '/sessions/current')).status).toBe(401)
})

test('400: a person who is signed in leaves no workspace without an admin, and a management key may', async () => {
  const { json } = await call(service, 'POST', '/workspaces', { body: { name: 'Lonely', slug: 'lonely' } })
  const { id, created_by: founder } = (json as { data: { id: string; created_by: string } }).data
  const ada = await signInAs(service, { user_id: 'lonely-ada', role: 'admin', workspace_id: id })
  await call(service, 'POST', `/workspaces/${id}/members/remove`, { body: { user_ids: [founder] } })
  const leave = (): Promise<readonly Answer[]> =>
    Promise.all([
      ada.ask('PATCH', `/workspaces/${id}/members/lonely-ada`, { body: { role: 'member' } }),
      ada.ask('POST', `/workspaces/${id}/members/remove`, { body: { user_ids: ['lonely-ada'] } }),
      ada.ask('POST', '/login-links', { body: { user_id: 'lonely-ada', role: 'member' } }),
    ])
  for (const refused of await leave()) {
    expect([refused.status, JSON.stringify(refused.error.metadata)]).toEqual([400, expect.stringContaining('make another member an admin')])
  }
  expect((await ada.ask('PATCH', `/workspaces/${id}/members/lonely-ada`, { body: { name: 'Ada', role: 'admin' } })).status).toBe(200)
  await signInAs(service, { user_id: 'lonely-bo', role: 'admin', workspace_id: id })
  expect((await ada.ask('PATCH', `/workspaces/${id}/members/lonely-ada`, { body: { role: 'member' } })).status).toBe(200)
  expect((await patch('lonely-bo', { role: 'member' }, id)).status).toBe(200)
})

test('a member can list and read active presets, but no others and no versions, and can change none', async () => {
  const body = { model: 'sandbox/echo', messages: [{ role: 'system', content: 'Answer briefly.' }] }
  for (const slug of ['read-me', 'not-me'])
    expect((await call(service, 'POST', `/presets/${slug}/chat/completions`, { body })).status).toBe(200)
  await call(service, 'PATCH', '/presets/not-me', { body: { status: 'disabled' } })
  const member = await signInAs(service, { user_id: 'reader' })
  const listed = async (query = ''): Promise<unknown> =>
    ((await member.ask('GET', `/presets${query}`)).json as { data: { slug: string }[] }).data.map(({ slug }) => slug)
  expect(await listed()).toEqual(['read-me'])
  expect(await listed('?include=usage&status=active')).toEqual(['read-me'])
  expect(await listed('?status=disabled')).toEqual([])
  expect(dataOf(await member.ask('GET', '/presets/read-me'))).toMatchObject({ designated_version: { system_prompt: 'Answer briefly.' } })
  for (const [method, path, status] of [
    ['GET', '/presets/not-me', 404],
    ['GET', '/presets/nothing', 404],
    ['GET', '/presets?workspace_id=other', 404],
    ['GET', '/presets/read-me/versions', 403],
    ['GET', '/presets/read-me/history', 403],
    ['DELETE', '/presets/read-me', 403],
  ] as const)
    expect([path, (await member.ask(method, path)).status]).toEqual([path, status])
})

test('a member can read what a preset does, but no credential of its tools', async () => {
  const body = {
    model: 'sandbox/echo',
    instructions: 'Answer briefly.',
    tools: [
      {
        type: 'mcp',
        server_label: 'crm',
        server_url: 'https://mcp.example.com/?token=S3CRET',
        authorization: 'S3CRET',
        headers: { 'X-Key': 'S3CRET' },
      },
      { type: 'hosted_advisor', parameters: { instructions: 'Think like a lawyer.', token: 'S3CRET' } },
    ],
  }
  expect((await call(service, 'POST', '/presets/with-tools/responses', { body })).status).toBe(200)
  const configOf = (answer: Answer) => (dataOf(answer)['designated_version'] as { config: unknown }).config
  expect(configOf(await call(service, 'GET', '/presets/with-tools'))).toMatchObject({ tools: body.tools })
  const member = await signInAs(service, { user_id: 'tools-reader' })
  const seen = await member.ask('GET', '/presets/with-tools')
  expect(JSON.stringify(seen.json)).not.toContain('S3CRET')
  expect(configOf(seen)).toMatchObject({
    tools: [
      { type: 'mcp', server_label: 'crm' },
      { type: 'hosted_advisor', parameters: { instructions: 'Think like a lawyer.' } },
    ],
  })
})

test('404: a person who is no member, or a workspace out of reach; 403: a member; 400: an unknown role', async () => {
  expect((await patch('nobody', { name: 'x' })).status).toBe(404)
  await call(service, 'POST', '/workspaces', { body: { name: 'x', slug: 'other' } })
  const elsewhere = await signInAs(service, { user_id: 'cy', workspace_id: 'other', role: 'admin' })
  expect((await elsewhere.ask('PATCH', '/workspaces/default/members/bo', { body: { role: 'admin' } })).status).toBe(404)
  expect((await elsewhere.ask('PATCH', '/workspaces/other/members/cy', { body: { name: 'Cy' } })).status).toBe(200)
  const member = await signInAs(service, { user_id: 'di' })
  expect((await member.ask('PATCH', '/workspaces/default/members/di', { body: { role: 'admin' } })).status).toBe(403)
  for (const body of [{ role: 'owner' }, { name: '' }, { email: 'no address' }, { nick: 'x' }])
    expect((await patch('di', body)).status).toBe(400)
})

test('the audit log can be filtered by person, action and time, is paged by its cursor, and its export as a table is an entry itself', async () => {
  const admin = await signInByKey(service)
  for (const name of ['=cmd()', 'two', 'three']) await admin.ask('POST', '/keys', { body: { name } })
  const me = String(dataOf(await admin.ask('GET', '/sessions/current'))['user_id'])
  const list = async (query: string) =>
    (await admin.ask('GET', `/audit-log?${query}`)).json as {
      data: readonly Record<string, unknown>[]
      next_cursor: string | null
    }
  const seen: unknown[] = []
  let cursor = ''
  do {
    const { data, next_cursor } = await list(`limit=1&action=created&object_type=api_key&user_id=${me}${cursor}`)
    seen.push(...data.map(({ after }) => (after as { name: string }).name))
    cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`
  } while (cursor !== '')
  expect(seen.slice(0, 3)).toEqual(['three', 'two', '=cmd()'])
  expect((await list('user_id=nobody')).data).toEqual([])
  expect((await list('to=2020-01-01')).data).toEqual([])
  expect((await list('from=2020-01-01&limit=1')).data).toHaveLength(1)
  for (const bad of ['from=x', 'cursor=x', 'from=2026-01-02&to=2026-01-01', 'limit=0']) {
    expect((await admin.ask('GET', `/audit-log?${bad}`)).status).toBe(400)
  }
  const table = await admin.ask('GET', '/audit-log?object_type=api_key', { headers: { accept: 'text/csv' } })
  expect(table.headers.get('content-type')).toStartWith('text/csv')
  expect(table.text.split('\r\n')[0]).toBe(
    'created_at,workspace_id,user_id,key_hash,session_id,action,object_type,object_id,before,after,id',
  )
  expect(table.text.trim().split('\r\n').length).toBeGreaterThan(3)
  expect((await list('action=exported')).data[0]).toMatchObject({ object_type: 'audit_log', session_id: admin.sessionId })
})
