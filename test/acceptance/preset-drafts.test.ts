/** Saving a preset without serving it, and the history of what it serves (docs/contract/presets.md#drafts). */
import { describe, expect, test } from 'bun:test'

import { type Answer, call, infer } from '../support/calls.ts'
import { useServices } from '../support/started-service.ts'

const services = useServices()

const service = await services.start()

const INTERFACES = ['chat/completions', 'responses', 'messages']

const save = (slug: string, body: object, { shape = 'chat/completions', query = '', headers = {} } = {}): Promise<Answer> =>
  call(service, 'POST', `/presets/${slug}/${shape}${query}`, { body, headers })

const patch = (slug: string, body: object): Promise<Answer> => call(service, 'PATCH', `/presets/${slug}`, { body })

const served = async (model: string) =>
  (await infer(service, { model, messages: [{ role: 'user', content: 'Hello!' }] })).headers.get('x-preset')

const versions = async (slug: string) =>
  (
    (await call(service, 'GET', `/presets/${slug}/versions`)).json as {
      data: { version: number; note: string | null; designated_at: string | null }[]
    }
  ).data

const history = async (slug: string, query = '') =>
  (await call(service, 'GET', `/presets/${slug}/history${query}`)).json as {
    data: { label: string | null; from: number | null; to: number | null; user_id: string | null }[]
    next_cursor: string | null
  }

describe('a draft', () => {
  test.each(INTERFACES)('200: a version that is not served until it is designated: %s', async (shape) => {
    const slug = `draft-${shape.replace('/', '-')}`
    const body = { model: 'sandbox/echo', max_tokens: 100 }
    await save(slug, body, { shape })
    const draft = await save(slug, { ...body, temperature: 0.5 }, { shape, query: '?designate=false' })
    expect(draft.status).toBe(200)
    expect(draft.preset).toMatchObject({
      designated_version: { version: 1 },
      latest_version: 2,
      saved_version: { version: 2, designated_at: null, config: { temperature: 0.5 } },
    })
    expect(draft.preset.designated_version_id).toBe(draft.preset.designated_version.id)
    expect(await served(`@preset/${slug}`)).toBe(`${slug}@1`)
    expect(await served(`@preset/${slug}@2`)).toBe(`${slug}@2`)

    expect((await patch(slug, { designated_version: 2 })).preset.designated_version).toMatchObject({ version: 2 })
    expect(await served(`@preset/${slug}`)).toBe(`${slug}@2`)
    expect((await versions(slug)).every(({ designated_at }) => designated_at !== null)).toBe(true)
  })

  test('designated_at is null for versions that were never served, and stays for those that were', async () => {
    for (const query of ['', '?designate=false', '?designate=false', '']) await save('dated', { model: 'sandbox/echo' }, { query })
    await patch('dated', { designated_version: 2 })
    expect((await versions('dated')).map(({ version, designated_at }) => [version, designated_at !== null])).toEqual([
      [1, true],
      [2, true],
      [3, false],
      [4, true],
    ])
  })

  test('the first version of a preset is served in any case, and the answer says so', async () => {
    const first = await save('first', { model: 'sandbox/echo' }, { query: '?designate=false' })
    expect(first.preset.designated_version).toMatchObject({ version: 1 })
    expect(first.headers.get('x-service-warning')).toContain('served in any case')
  })

  test('an archived preset stays archived', async () => {
    await save('gone', { model: 'sandbox/echo' })
    await call(service, 'DELETE', '/presets/gone')
    expect((await save('gone', { model: 'sandbox/echo' }, { query: '?designate=false' })).preset.status).toBe('archived')
    expect(await served('@preset/gone')).toBeNull()
    expect((await save('gone', { model: 'sandbox/echo' })).preset.status).toBe('active')
  })

  test('a repetition with its Idempotency-Key gets the first answer, and the same key with another `designate` is a 400', async () => {
    await save('once', { model: 'sandbox/echo' })
    const headers = { 'idempotency-key': 'draft-1', 'if-match': '"1"' }
    const [one, two] = [
      await save('once', { model: 'sandbox/echo' }, { query: '?designate=false', headers }),
      await save('once', { model: 'sandbox/echo' }, { query: '?designate=false', headers }),
    ]
    expect(two.text).toBe(one.text)
    expect(await versions('once')).toHaveLength(2)
    expect((await save('once', { model: 'sandbox/echo' }, { headers })).status).toBe(400)
  })

  test.each(['designate=no', 'designate=1'])('400: ?%s', async (query) => {
    const answer = await save('refused', { model: 'sandbox/echo' }, { query: `?${query}` })
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.error.metadata)).toContain('designate')
    expect((await call(service, 'GET', '/presets/refused')).status).toBe(404)
  })
})

describe('X-Preset-Note', () => {
  const notes: [string, string | null][] = [
    ['shorter answers', 'shorter answers'],
    ['50 % shorter, 100% polite', '50 % shorter, 100% polite'],
    [encodeURIComponent('Schöne Grüße, 你好'), 'Schöne Grüße, 你好'],
    [Buffer.from('Grüße').toString('latin1'), 'Grüße'],
    ['', null],
    ['x'.repeat(500), 'x'.repeat(500)],
  ]
  test.each(notes)('is kept with the version: %s', async (note, kept) => {
    await save('noted', { model: 'sandbox/echo' }, { headers: { 'x-preset-note': note } })
    expect((await versions('noted')).at(-1)?.note).toBe(kept)
  })

  test.each(['x'.repeat(501), encodeURIComponent('two\nlines'), '%00'])('400: %s', async (note) => {
    const answer = await save('unnoted', { model: 'sandbox/echo' }, { headers: { 'x-preset-note': note } })
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.error.metadata)).toContain('X-Preset-Note')
  })
})

describe('If-Match', () => {
  test('412 if another version is the newest, served or not, and nothing is stored', async () => {
    await save('matched', { model: 'sandbox/echo' })
    const two = await save('matched', { model: 'sandbox/echo' }, { query: '?designate=false', headers: { 'if-match': '"1"' } })
    expect(two.status).toBe(200)
    const late = await save('matched', { model: 'sandbox/lorem' }, { headers: { 'if-match': '"1"' } })
    expect(late.status).toBe(412)
    expect(late.error.metadata).toMatchObject({ latest_version: 2 })
    expect(await versions('matched')).toHaveLength(2)
    expect((await save('matched', { model: 'sandbox/lorem' }, { headers: { 'if-match': '"2"' } })).status).toBe(200)
  })

  test('"0" matches a preset that does not exist yet', async () => {
    expect((await save('absent', { model: 'sandbox/echo' }, { headers: { 'if-match': '"1"' } })).error).toMatchObject({
      code: 412,
      message: 'There is no preset "absent" yet. Send If-Match: "0" to make it, or leave the condition out.',
    })
    expect((await call(service, 'GET', '/presets/absent')).status).toBe(404)
    expect((await save('absent', { model: 'sandbox/echo' }, { headers: { 'if-match': '"0"' } })).status).toBe(200)
    expect((await save('absent', { model: 'sandbox/echo' }, { headers: { 'if-match': '"0"' } })).status).toBe(412)
  })

  test('exactly one of many writers with the same base succeeds', async () => {
    await save('raced', { model: 'sandbox/echo' })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => save('raced', { model: 'sandbox/echo' }, { headers: { 'if-match': '"1"' } })),
    )
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200,
      ...Array.from({ length: 19 }, () => 412),
    ])
    expect(await versions('raced')).toHaveLength(2)
  })

  test('guards a change and the archiving of a preset as it guards a save', async () => {
    await save('guarded', { model: 'sandbox/echo' })
    await save('guarded', { model: 'sandbox/lorem' }, { query: '?designate=false' })
    const [stale, fresh] = [{ 'if-match': '"1"' }, { 'if-match': '"2"' }]
    const late = await call(service, 'PATCH', '/presets/guarded', { body: { designated_version: 2, name: 'x' }, headers: stale })
    expect([late.status, late.error.metadata]).toEqual([412, expect.objectContaining({ latest_version: 2 })])
    expect((await call(service, 'DELETE', '/presets/guarded', { headers: stale })).status).toBe(412)
    const kept = (await call(service, 'GET', '/presets/guarded')).json as { data: object }
    expect(kept.data).toMatchObject({ name: 'guarded', status: 'active', designated_version: { version: 1 } })
    const body = { designated_version: 2 }
    expect((await call(service, 'PATCH', '/presets/guarded', { body, headers: fresh })).status).toBe(200)
    expect((await call(service, 'DELETE', '/presets/guarded', { headers: fresh })).status).toBe(200)
    expect((await call(service, 'PATCH', '/presets/not-there', { body, headers: { 'if-match': '"0"' } })).status).toBe(404)
  })

  test('If-None-Match: * matches a preset that does not exist yet, too', async () => {
    const absent = { 'if-none-match': '*' }
    expect((await save('unmatched', { model: 'sandbox/echo' }, { headers: absent })).status).toBe(200)
    expect((await save('unmatched', { model: 'sandbox/lorem' }, { headers: absent })).status).toBe(412)
    expect(await versions('unmatched')).toHaveLength(1)
    for (const headers of [{ 'if-none-match': '"1"' }, { ...absent, 'if-match': '"1"' }])
      expect((await save('unmatched', { model: 'sandbox/lorem' }, { headers })).status).toBe(400)
  })

  test.each(['1', 'W/"1"', '*', '"x"'])('400: %s', async (value) => {
    const headers = { 'if-match': value }
    expect((await save('malformed', { model: 'sandbox/echo' }, { headers })).status).toBe(400)
    expect((await call(service, 'PATCH', '/presets/malformed', { body: { name: 'x' }, headers })).status).toBe(400)
  })
})

describe('lists', () => {
  test('versions come newest first with order=desc', async () => {
    for (let saved = 0; saved < 3; saved += 1) await save('ordered', { model: 'sandbox/echo' })
    const newest = await call(service, 'GET', '/presets/ordered/versions?order=desc&limit=2')
    expect(newest.versions.map(({ version }) => version)).toEqual([3, 2])
    expect((await call(service, 'GET', '/presets/ordered/versions?order=up')).status).toBe(400)
  })

  test('presets are found by a part of slug or name and by status', async () => {
    const lone = await services.start()
    for (const slug of ['support-bot', 'search', 'a_b', 'axb']) await call(lone, 'POST', `/presets/${slug}/responses`, { body: {} })
    await call(lone, 'PATCH', '/presets/search', { body: { name: 'The Bot that finds', status: 'disabled' } })
    const found = async (query: string) => {
      const answer = await call(lone, 'GET', `/presets?${query}`)
      expect((answer.json as { total_count: number }).total_count).toBe(answer.presets.length)
      return answer.presets.map(({ slug }) => slug).toSorted()
    }
    expect(await found('q=BOT')).toEqual(['search', 'support-bot'])
    expect(await found('q=a_b')).toEqual(['a_b'])
    expect(await found('q=%25')).toEqual([])
    expect(await found('q=bot&status=disabled')).toEqual(['search'])
    expect(await found('status=active')).toEqual(['a_b', 'axb', 'support-bot'])
    expect((await call(lone, 'GET', '/presets?status=live')).status).toBe(400)
  })
})

describe('history', () => {
  test('returns each move of the served version and of labels, newest first, a page at a time', async () => {
    for (let saved = 0; saved < 3; saved += 1) await save('told', { model: 'sandbox/echo' })
    await patch('told', { labels: { production: 1 } })
    await patch('told', { labels: { production: 2, staging: 3 }, designated_version: 1 })
    await patch('told', { labels: { production: 2, staging: null } })
    const all = (await history('told')).data.map(({ label, from, to }) => [label, from, to])
    expect(all).toEqual([
      ['staging', 3, null],
      ['staging', null, 3],
      ['production', 1, 2],
      [null, 3, 1],
      ['production', null, 1],
      [null, 2, 3],
      [null, 1, 2],
      [null, null, 1],
    ])
    expect((await history('told')).data.every(({ user_id }) => user_id !== null)).toBe(true)
    expect((await history('told', '?label=production')).data.map(({ to }) => to)).toEqual([2, 1])
    const page = await history('told', '?limit=3')
    expect(page.data).toHaveLength(3)
    const rest = await history('told', `?limit=100&cursor=${page.next_cursor}`)
    expect([page.data, rest.data].flat().map(({ label, from, to }) => [label, from, to])).toEqual(all)
    expect(rest.next_cursor).toBeNull()
    expect((await call(service, 'GET', '/presets/told/history?cursor=x')).status).toBe(400)
    expect((await call(service, 'GET', '/presets/unknown/history')).status).toBe(404)
  })
})

describe('protected labels', () => {
  test('400 for a move of one of these labels without confirm: true; the audit log has from and to', async () => {
    const lone = await services.start()
    for (let saved = 0; saved < 2; saved += 1) await call(lone, 'POST', '/presets/bot/responses', { body: { model: 'sandbox/echo' } })
    const move = (body: object) => call(lone, 'PATCH', '/presets/bot', { body })
    await move({ labels: { production: 1 } })
    const set = await call(lone, 'PATCH', '/workspaces/default', { body: { protected_labels: ['production'] } })
    expect(set.json).toMatchObject({ data: { protected_labels: ['production'] } })

    for (const body of [{ labels: { production: 2 } }, { labels: { production: null } }, { labels: { production: 2 }, confirm: false }]) {
      const refused = await move(body)
      expect(refused.status).toBe(400)
      expect(refused.error.metadata).toMatchObject({ protected_labels: ['production'] })
    }
    expect((await move({ labels: { staging: 2, production: 1 } })).status).toBe(200)
    expect((await move({ labels: { production: 2 }, confirm: true })).preset.labels).toEqual({ staging: 2, production: 2 })
    const audit = (await call(lone, 'GET', '/audit-log?object_type=preset&limit=1')).json as { data: object[] }
    expect(audit.data[0]).toMatchObject({ before: { labels: { production: 1 } }, after: { labels: { production: 2 } } })
  })
})
