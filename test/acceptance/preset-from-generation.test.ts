/** A preset from a request that was answered (docs/contract/presets.md#from-a-request). */
import { expect, test } from 'bun:test'

import { type Answer, call, infer } from '../support/calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  native: { dialects: [openai-responses], base_url: "${upstream.url}" }
models:
  fake/native: { endpoints: [{ provider: native, model: up }] }
`,
})

const BODY = {
  model: 'sandbox/echo',
  temperature: 0.25,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ],
}

const answered = async (body: object): Promise<string> => (await infer(service, { ...body })).headers.get('x-generation-id') ?? ''
const from = (slug: string, generation_id: string, query = ''): Promise<Answer> =>
  call(service, 'POST', `/presets/${slug}/from-generation${query}`, { body: { generation_id } })

test('without contents, the preset has the settings, and the answer says that the texts are missing', async () => {
  const saved = await from('settings', await answered(BODY))
  expect(saved.status).toBe(200)
  expect(saved.preset.designated_version).toMatchObject({
    shape: 'chat',
    config: { model: 'sandbox/echo', temperature: 0.25 },
    system_prompt: null,
  })
  expect((saved.json as { warnings: string[] }).warnings[0]).toContain('texts are missing')
})

test('with contents, the preset equals one saved from the body, the reading is audited, and it may be a draft', async () => {
  await call(service, 'PATCH', '/workspaces/default', { body: { is_observability_io_logging_enabled: true } })
  const tools = [
    { type: 'function', function: { name: 'find', description: 'Finds what the user has asked for.', parameters: { type: 'object' } } },
  ]
  const id = await answered({ ...BODY, tools })
  const saved = await from('whole', id)
  expect(saved.json).toMatchObject({ warnings: [] })
  expect(saved.preset.designated_version).toMatchObject({
    config: { model: 'sandbox/echo', temperature: 0.25, tools },
    system_prompt: 'Be brief.',
  })
  const draft = await from('whole', id, '?designate=false')
  expect(draft.preset).toMatchObject({ designated_version: { version: 1 }, saved_version: { version: 2 } })
  const audit = (await call(service, 'GET', `/audit-log?object_type=generation_content&object_id=${id}`)).json as { data: object[] }
  expect(audit.data).toHaveLength(2)
})

test('a warning names the places of the credentials that are not stored with the contents', async () => {
  await call(service, 'PATCH', '/workspaces/default', { body: { is_observability_io_logging_enabled: true } })
  const tools = [{ type: 'mcp', server_label: 'crm', server_url: 'https://mcp.example.com/sse', authorization: 'own-secret' }]
  upstream.script((exchange) => exchange.answer(400, '{}'))
  const answer = await infer(service, { model: 'fake/native', input: 'Hi', tools }, { path: '/responses' })
  const saved = await from('credentials', answer.headers.get('x-generation-id') ?? '')
  expect(saved.status).toBe(200)
  expect((saved.json as { warnings: string[] }).warnings).toContainEqual(expect.stringContaining('tools[0].authorization'))
})

test('a request that used a preset gives its merged settings, and not the name of that preset as the model', async () => {
  const id = await answered({ model: '@preset/whole', temperature: 0.5, messages: [{ role: 'user', content: 'Hi' }] })
  const saved = await from('again', id)
  expect(saved.preset.designated_version.config).toMatchObject({ model: 'sandbox/echo', temperature: 0.5 })
  expect((saved.json as { warnings: string[] }).warnings[0]).toContain('whole')
})

test('a repetition gets the first answer and its warnings, reads nothing, and needs the request no more', async () => {
  await call(service, 'PATCH', '/workspaces/default', { body: { is_observability_io_logging_enabled: true } })
  const id = await answered(BODY)
  const save = async (generation_id = id) =>
    call(service, 'POST', '/presets/once/from-generation', { body: { generation_id }, headers: { 'idempotency-key': 'once' } })
  const facts = ({ status, json, headers }: Answer) => ({ status, json, warnings: headers.get('x-service-warnings') })
  const first = facts(await save())
  expect(first).toMatchObject({ status: 200, warnings: null, json: { data: { slug: 'once' } } })
  expect(facts(await save())).toEqual(first)
  expect((await call(service, 'DELETE', `/generation/content?id=${id}`)).status).toBe(200)
  expect(facts(await save())).toEqual(first)
  const audit = (await call(service, 'GET', `/audit-log?object_type=generation_content&object_id=${id}`)).json as {
    data: { action: string }[]
  }
  expect(audit.data.filter(({ action }) => action === 'read')).toHaveLength(1)
  expect((await save('gen-other')).status).toBe(400)
})

test('404 for a request that does not exist, 403 for an inference key', async () => {
  expect((await from('none', 'gen-none')).status).toBe(404)
  expect(
    (await call(service, 'POST', '/presets/x/from-generation', { key: service.inferenceKey, body: { generation_id: 'x' } })).status,
  ).toBe(403)
})
