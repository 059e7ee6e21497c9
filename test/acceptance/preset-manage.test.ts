/** Reading, changing and archiving presets (docs/contract/presets.md#changes). */
import { describe, expect, test } from 'bun:test'

import { type Answer, call, infer, savePreset } from '../support/calls.ts'
import { signInAs } from '../support/signed-in.ts'
import { useServices } from '../support/started-service.ts'

const services = useServices()

const service = await services.start()

const patch = (slug: string, body: unknown, key?: string): Promise<Answer> =>
  call(service, 'PATCH', `/presets/${slug}`, { body, ...(key === undefined ? {} : { key }) })

const get = async (slug: string) => (await call(service, 'GET', `/presets/${slug}`)).preset

const use = (model: string): Promise<Answer> => infer(service, { model, messages: [{ role: 'user', content: 'Hello!' }] })

describe('lists', () => {
  test('200: presets, most recently updated first, without their versions, a page at a time', async () => {
    const lone = await services.start()
    for (const slug of ['one', 'two', 'three', 'four', 'five']) await savePreset(lone, slug, { model: 'sandbox/echo' })
    await savePreset(lone, 'two', { model: 'sandbox/lorem' })
    const slugs = async (query: string) => {
      const answer = await call(lone, 'GET', `/presets${query}`)
      return { slugs: answer.presets.map(({ slug }) => slug), ...(answer.json as { total_count: number }) }
    }
    expect(await slugs('')).toMatchObject({ slugs: ['two', 'five', 'four', 'three', 'one'], total_count: 5 })
    expect(await slugs('?limit=2')).toMatchObject({ slugs: ['two', 'five'], total_count: 5 })
    expect(await slugs('?limit=2&offset=4')).toMatchObject({ slugs: ['one'], total_count: 5 })
    expect(await slugs('?offset=5')).toMatchObject({ slugs: [], total_count: 5 })
    expect(await slugs('?offset=&limit=100')).toMatchObject({ slugs: ['two', 'five', 'four', 'three', 'one'] })
    expect(await slugs('?offset=null&limit=null')).toMatchObject({ slugs: ['two', 'five', 'four', 'three', 'one'] })
    const [first] = (await call(lone, 'GET', '/presets')).presets
    expect(first).not.toHaveProperty('designated_version')
    expect(first).toHaveProperty('designated_version_id')
  })

  test('200: with include=usage, how much each was used in the last 24 hours; any other include is 400', async () => {
    const lone = await services.start()
    for (const slug of ['used', 'unused']) await savePreset(lone, slug, { model: 'sandbox/echo' })
    for (const text of ['Hi', 'Ho']) await infer(lone, { model: '@preset/used', messages: [{ role: 'user', content: text }] })
    const listed = (await call(lone, 'GET', '/presets?include=usage')).json as { data: { slug: string; usage: Record<string, unknown> }[] }
    expect(listed.data.map(({ slug, usage }) => [slug, usage['requests'], usage['errors'], usage['cost']])).toEqual([
      ['unused', 0, 0, 0],
      ['used', 2, 0, 0],
    ])
    expect((await call(lone, 'GET', '/presets')).presets[0]).not.toHaveProperty('usage')
    expect((await call(lone, 'GET', '/presets?include=everything')).status).toBe(400)
  })

  test('200: with include=summary, what each serves and who changed it last; a member is not shown who', async () => {
    const lone = await services.start()
    for (const model of ['sandbox/echo', 'sandbox/lorem']) await savePreset(lone, 'moved', { model })
    await call(lone, 'PATCH', '/presets/moved', { body: { designated_version: 1 } })
    await savePreset(lone, 'split', { model: 'sandbox/echo' })
    await call(lone, 'POST', '/presets/split/responses?designate=false', { body: { model: 'sandbox/lorem' } })
    const splits = [
      { version: 1, weight: 90 },
      { version: 2, weight: 10 },
    ]
    await call(lone, 'PUT', '/presets/split/rollout', { body: { splits, sticky: 'session' } })
    const admin = await signInAs(lone, { user_id: 'ada', role: 'admin' })
    await admin.ask('PATCH', '/presets/moved', { body: { description: 'Moved.' } })
    await call(lone, 'POST', '/presets/moved/tests', { body: { name: 'greeting', messages: [{ role: 'user', content: 'Hi' }] } })
    type Listed = { slug: string; latest_version: number; usage?: object; summary: Record<string, unknown> }
    const listed = (answer: { json: unknown }) => (answer.json as { data: Listed[] }).data.toSorted((a, b) => (a.slug < b.slug ? -1 : 1))
    const [moved, split] = listed(await call(lone, 'GET', '/presets?include=summary'))
    expect(moved).toMatchObject({
      slug: 'moved',
      latest_version: 2,
      summary: { live_version: 1, model: 'sandbox/echo', splits: null, last_change: { user_id: 'ada', key_hash: null, key_name: null } },
    })
    expect(moved?.usage).toBeUndefined()
    expect(split).toMatchObject({ slug: 'split', summary: { live_version: 1, splits, last_change: { key_name: expect.any(String) } } })
    const member = await signInAs(lone, { user_id: 'grace', role: 'member' })
    const [seen] = listed(await member.ask('GET', '/presets?include=usage,summary'))
    expect(seen).toMatchObject({ slug: 'moved', usage: { requests: 0 }, summary: { live_version: 1, last_change: null } })

    const { json: one } = await call(lone, 'GET', '/presets/split?include=summary')
    expect(one).toMatchObject({ data: { designated_version: { version: 1 }, summary: split?.summary } })
    expect((await call(lone, 'GET', '/presets/split')).json).not.toHaveProperty('data.summary')
    expect((await call(lone, 'GET', '/presets/split?include=usage')).status).toBe(400)
    const { json: own } = await member.ask('GET', '/presets/moved?include=summary')
    expect(own).toMatchObject({ data: { summary: { live_version: 1, last_change: null } } })
  })

  test('200: versions, oldest first, a page at a time', async () => {
    for (let version = 1; version <= 5; version += 1)
      await savePreset(service, 'grown', { model: 'sandbox/echo', max_output_tokens: version })
    const all = await call(service, 'GET', '/presets/grown/versions')
    expect(all.versions.map(({ version, config }) => [version, config['max_output_tokens']])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 5],
    ])
    expect(all.json).toMatchObject({ total_count: 5 })
    const page = await call(service, 'GET', '/presets/grown/versions?offset=3&limit=1')
    expect(page.versions.map(({ version }) => version)).toEqual([4])
    expect(page.json).toMatchObject({ total_count: 5 })
  })

  for (const path of ['/presets', '/audit-log'])
    test(`400: ${path} by number behind more than 50,000, and it names the cursor`, async () => {
      const answer = await call(service, 'GET', `${path}?offset=50001`)
      expect(answer.error).toMatchObject({ code: 400 })
      expect(JSON.stringify(answer.error.metadata)).toContain('`cursor`')
    })

  for (const query of ['limit=0', 'limit=101', 'limit=ten', 'offset=-1', 'offset=1.5']) {
    test(`400: ?${query}`, async () => {
      for (const path of ['/presets', '/presets/grown/versions']) {
        const answer = await call(service, 'GET', `${path}?${query}`)
        expect(answer.error).toMatchObject({ code: 400, message: 'Invalid request parameters' })
        expect(JSON.stringify(answer.error.metadata)).toContain(query.split('=')[0] ?? '')
      }
    })
  }
})

describe('PATCH', () => {
  test('200: a name', async () => {
    const before = (await savePreset(service, 'named', { model: 'sandbox/echo' })).preset
    const answer = await patch('named', { name: 'Support, second line' })
    expect(answer.status).toBe(200)
    expect(answer.preset).toEqual({ ...before, name: 'Support, second line', updated_at: answer.preset.updated_at })
    expect(await get('named')).toEqual(answer.preset)
  })

  test('200: a description can be set and removed', async () => {
    await savePreset(service, 'described', { model: 'sandbox/echo' })
    expect((await patch('described', { description: 'For everyone.' })).preset.description).toBe('For everyone.')
    expect((await patch('described', { name: 'x' })).preset.description).toBe('For everyone.')
    expect((await patch('described', { description: null })).preset.description).toBeNull()
  })

  test('200: a status, with the time of its change; a disabled preset answers 403 until it is active again', async () => {
    await savePreset(service, 'switched', { model: 'sandbox/echo' })
    const disabled = (await patch('switched', { status: 'disabled' })).preset
    expect(disabled.status).toBe('disabled')
    expect(Date.parse(disabled.status_updated_at ?? '')).toBeGreaterThan(Date.now() - 60_000)
    const refused = await use('@preset/switched')
    expect(refused.status).toBe(403)
    expect(refused.error.metadata).toMatchObject({ error_type: 'permission_denied' })
    expect(refused.error.message).toContain('switched')
    expect((await patch('switched', { status: 'active' })).preset.status).toBe('active')
    expect((await use('@preset/switched')).status).toBe(200)
  })

  test('200: going back to an earlier version; inference follows, and the next version is a new one', async () => {
    await savePreset(service, 'rolled', { model: 'sandbox/echo' })
    await savePreset(service, 'rolled', { model: 'sandbox/reasoning' })
    const back = await patch('rolled', { designated_version: 1 })
    expect(back.preset.designated_version).toMatchObject({ version: 1, config: { model: 'sandbox/echo' } })
    expect(back.preset.designated_version_id).toBe(back.preset.designated_version.id)
    const used = await use('@preset/rolled')
    expect(used.headers.get('x-preset')).toBe('rolled@1')
    expect(used.json).toMatchObject({ model: 'sandbox/echo' })
    const next = await savePreset(service, 'rolled', { model: 'sandbox/lorem' })
    expect(next.preset.designated_version.version).toBe(3)
  })

  test('200: labels are set, moved and removed one by one', async () => {
    await savePreset(service, 'labelled', { model: 'sandbox/echo' })
    await savePreset(service, 'labelled', { model: 'sandbox/reasoning' })
    expect((await patch('labelled', { labels: { staging: 2, live: 1 } })).preset.labels).toEqual({ staging: 2, live: 1 })
    const used = await use('@preset/labelled@live')
    expect(used.headers.get('x-preset')).toBe('labelled@1')
    expect(used.json).toMatchObject({ model: 'sandbox/echo' })
    expect((await patch('labelled', { labels: { live: 2, staging: null } })).preset.labels).toEqual({ live: 2 })
    expect((await use('@preset/labelled@live')).headers.get('x-preset')).toBe('labelled@2')
    const gone = await use('@preset/labelled@staging')
    expect(gone.status).toBe(404)
    expect(gone.error).toMatchObject({
      message: 'The preset "labelled" has no label "staging". GET /api/v1/presets/labelled shows its labels, and …/versions its versions.',
      metadata: { error_type: 'not_found' },
    })
    expect((await use('@preset/labelled@9')).error.message).toStartWith('The preset "labelled" has no version 9. ')
  })

  const refused: Readonly<Record<string, unknown>> = {
    'a version that is not there': { designated_version: 99 },
    'a label of a version that is not there': { labels: { live: 99 } },
    'a label that looks like a version': { labels: { '3': 1 } },
    'a label that no object can hold': { labels: { ['__proto__']: 1 } },
    'an unknown status': { status: 'retired' },
    'an empty name': { name: '' },
    'a blank name': { name: ' \t\u00a0' },
    'a name that is not a string': { name: null },
    'a field that cannot be changed': { slug: 'other' },
    'an array': [],
    'not JSON': '{',
  }
  for (const [what, body] of Object.entries(refused)) {
    test(`400: ${what}; nothing changes`, async () => {
      await savePreset(service, 'untouched', { model: 'sandbox/echo' })
      const before = await get('untouched')
      const answer = await patch('untouched', body)
      expect(answer.status).toBe(400)
      expect(answer.error).toMatchObject({ code: 400, message: 'Invalid request parameters' })
      expect(await get('untouched')).toEqual(before)
    })
  }

  test('400: one bad field among good ones changes nothing', async () => {
    await savePreset(service, 'all-or-nothing', { model: 'sandbox/echo' })
    await patch('all-or-nothing', { name: 'Changed', description: 'Changed', designated_version: 99 })
    expect(await get('all-or-nothing')).toMatchObject({ name: 'all-or-nothing', description: null })
  })

  test('401, 403, 404: no key, an inference key, no preset', async () => {
    expect((await call(service, 'PATCH', '/presets/named', { key: null, body: {} })).error).toMatchObject({
      code: 401,
      message: 'Missing Authentication header',
    })
    expect((await patch('named', {}, service.inferenceKey)).error).toMatchObject({
      code: 403,
      message: 'Only management keys can perform this operation',
    })
    expect((await patch('never-made', { name: 'x' })).error).toMatchObject({ code: 404, message: 'Resource not found' })
  })
})

describe('DELETE', () => {
  test('200: archives: versions stay readable, requests with it answer 404', async () => {
    const saved = (await savePreset(service, 'archived', { model: 'sandbox/echo' })).preset
    const answer = await call(service, 'DELETE', '/presets/archived')
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ deleted: true })
    expect(await get('archived')).toMatchObject({ status: 'archived', status_updated_at: expect.any(String) })
    expect((await call(service, 'GET', '/presets/archived/versions/1')).json).toEqual({ data: saved.designated_version })
    for (const model of ['@preset/archived', '@preset/archived@1', 'sandbox/echo@preset/archived']) {
      const used = await use(model)
      expect(used.status).toBe(404)
      expect(used.error.metadata).toMatchObject({ error_type: 'not_found' })
      expect(used.error.message).toBe('The preset "archived" is archived. To use it, set its status to "active".')
    }
  })

  test('200: what changes nothing keeps the time of the last change: PATCH {}, PATCH with equal values, a second DELETE', async () => {
    await savePreset(service, 'still', { model: 'sandbox/echo' })
    const named = (await patch('still', { name: 'Still' })).preset
    for (const same of [{}, { name: 'Still' }]) expect((await patch('still', same)).preset).toEqual(named)
    await call(service, 'DELETE', '/presets/still')
    const archived = await get('still')
    expect((await call(service, 'DELETE', '/presets/still')).status).toBe(200)
    expect(await get('still')).toEqual(archived)
  })

  test('200: PATCH restores an archived preset', async () => {
    await savePreset(service, 'revived', { model: 'sandbox/echo' })
    await call(service, 'DELETE', '/presets/revived')
    await patch('revived', { status: 'active' })
    expect((await use('@preset/revived')).status).toBe(200)
  })

  test('401, 403, 404: no key, an inference key, no preset', async () => {
    expect((await call(service, 'DELETE', '/presets/named', { key: null })).status).toBe(401)
    expect((await call(service, 'DELETE', '/presets/named', { key: service.inferenceKey })).status).toBe(403)
    expect((await call(service, 'DELETE', '/presets/never-made')).status).toBe(404)
  })
})

describe('the model list', () => {
  const listed = async (): Promise<readonly string[]> => {
    const answer = await call(service, 'GET', '/models', { key: service.inferenceKey })
    return (answer.json as { data: readonly { id: string }[] }).data.map(({ id }) => id)
  }

  test('200: active presets are models for inference keys; disabled and archived ones are not', async () => {
    for (const slug of ['list-active', 'list-disabled', 'list-archived']) await savePreset(service, slug, { model: 'sandbox/echo' })
    await patch('list-disabled', { status: 'disabled' })
    await call(service, 'DELETE', '/presets/list-archived')
    const ids = await listed()
    expect(ids).toContain('@preset/list-active')
    expect(ids).toContain('sandbox/echo')
    expect(ids).not.toContain('@preset/list-disabled')
    expect(ids).not.toContain('@preset/list-archived')
  })

  test('200: a preset has the capabilities of its model', async () => {
    const models = (await call(service, 'GET', '/models')).json as {
      data: readonly { id: string; context_length: number; supported_parameters: readonly string[] }[]
    }
    const found = (id: string) => models.data.find((model) => model.id === id)
    expect(found('@preset/list-active')?.context_length).toBe(found('sandbox/echo')?.context_length ?? -1)
    expect(found('@preset/list-active')?.supported_parameters).toEqual(found('sandbox/echo')?.supported_parameters ?? ['none'])
  })

  test('200: /v1 is the same router as /api/v1', async () => {
    const [one, other] = await Promise.all(
      ['/api/v1', '/v1'].map(async (base) => {
        const response = await fetch(`${service.url}${base}/presets/list-active`, {
          headers: { authorization: `Bearer ${service.managementKey}` },
        })
        return response.text()
      }),
    )
    expect(one).toBe(other ?? '')
  })
})
