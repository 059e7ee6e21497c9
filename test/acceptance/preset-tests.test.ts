/** Inputs that are saved to try a preset with (docs/contract/presets.md#tests). */
import { expect, test } from 'bun:test'

import { type Answer, call, savePreset } from '../support/calls.ts'
import { useServices } from '../support/started-service.ts'

const service = await useServices().start()

const MESSAGES = [{ role: 'user', content: 'Where is my parcel?' }]

const add = (slug: string, body: object): Promise<Answer> => call(service, 'POST', `/presets/${slug}/tests`, { body })
const list = async (slug: string) =>
  ((await call(service, 'GET', `/presets/${slug}/tests`)).json as { data: { id: string; name: string }[] }).data

test('tests are saved, listed oldest first, and removed', async () => {
  await savePreset(service, 'tried', { model: 'sandbox/echo' })
  const tools = [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }]
  const one = await add('tried', { name: ' parcel ', messages: MESSAGES, tools, expected: { zero: '\u0000' } })
  expect(one.status).toBe(201)
  const saved = (one.json as { data: { id: string } }).data
  expect(saved).toMatchObject({ name: 'parcel', messages: MESSAGES, tools, expected: { zero: '\u0000' } })
  await add('tried', { name: 'other', messages: MESSAGES })
  const [first, second] = await list('tried')
  expect(first).toEqual(saved as typeof first)
  expect(second).toMatchObject({ name: 'other', tools: null, expected: null })
  expect((await call(service, 'DELETE', `/presets/tried/tests/${saved.id}`)).json).toEqual({ deleted: true })
  expect((await list('tried')).map(({ name }) => name)).toEqual(['other'])
  expect((await call(service, 'DELETE', `/presets/tried/tests/${saved.id}`)).status).toBe(404)
  const audit = (await call(service, 'GET', '/audit-log?object_type=preset&object_id=tried&limit=2')).json as { data: { action: string }[] }
  expect(audit.data.map(({ action }) => action)).toEqual(['test_removed', 'test_added'])
})

test('400: one more than fifty, even if many come at once', async () => {
  await savePreset(service, 'full', { model: 'sandbox/echo' })
  const answers = await Promise.all(Array.from({ length: 53 }, (_, at) => add('full', { name: `test ${at}`, messages: MESSAGES })))
  expect(answers.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(50)
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(3)
  expect(await list('full')).toHaveLength(50)
})

test.each([
  ['no messages', { name: 'x', messages: [] }],
  ['no name', { name: ' ', messages: MESSAGES }],
  ['more than 64 KiB', { name: 'x', messages: [{ role: 'user', content: 'é'.repeat(40_000) }] }],
  ['an unknown member', { name: 'x', messages: MESSAGES, expects: 'y' }],
])('400: %s', async (_, body) => {
  await savePreset(service, 'strict', { model: 'sandbox/echo' })
  expect((await add('strict', body)).status).toBe(400)
})

test('404 for a preset that does not exist, 403 for an inference key', async () => {
  expect((await add('unknown', { name: 'x', messages: MESSAGES })).status).toBe(404)
  expect((await call(service, 'GET', '/presets/unknown/tests')).status).toBe(404)
  expect((await call(service, 'GET', '/presets/tried/tests', { key: service.inferenceKey })).status).toBe(403)
})

test('with an Idempotency-Key a test is saved once; the same key for another preset or body is a 400', async () => {
  for (const slug of ['once', 'beside']) await savePreset(service, slug, { model: 'sandbox/echo' })
  const post = (slug: string, name: string): Promise<Answer> =>
    call(service, 'POST', `/presets/${slug}/tests`, { body: { name, messages: MESSAGES }, headers: { 'idempotency-key': 'same' } })
  const first = await post('once', 'parcel')
  expect(first.status).toBe(201)
  expect(await post('once', 'parcel')).toMatchObject({ status: 201, text: first.text })
  expect([(await post('once', 'other')).status, (await post('beside', 'parcel')).status]).toEqual([400, 400])
  expect([(await list('once')).length, (await list('beside')).length]).toEqual([1, 0])
})
