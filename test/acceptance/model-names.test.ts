/**
 * Vendors' own model names, which clients send by default, work on every path that takes a model; a preset or an operator's model of the
 * same name takes precedence.
 */
import { describe, expect, test } from 'bun:test'

import { call, createKey, infer, savePreset } from '../support/calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const openai = await startFakeUpstream()
const service = await useServices().start({
  env: { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: openai.url },
  config: 'models: { team/gpt-4.1: { endpoints: [{ provider: openai, model: fine-tuned }] } }\n',
})

const PATHS = ['/chat/completions', '/responses', '/messages'] as const
const question = { messages: [{ role: 'user', content: 'Hi' }] }
const questionFor = (path: string): object =>
  path === '/responses' ? { input: 'Hi' } : path === '/messages' ? { max_tokens: 10, ...question } : question

/** The model that would be called, according to a dry run: nothing is sent. */
const planned = async (model: string, path: string, key = service.inferenceKey): Promise<unknown> => {
  const answer = await infer(service, { model, ...questionFor(path) }, { path, key, headers: { 'X-Service-Dry-Run': 'enabled' } })
  const { plan } = answer.json as { readonly plan?: { readonly attempts: readonly { readonly model: string }[] } }
  return plan?.attempts[0]?.model ?? `${answer.status}: ${answer.text}`
}

describe.each(PATHS)('%s', (path) => {
  test.each([
    ['claude-opus-4-8', 'anthropic/claude-opus-4.8'],
    ['claude-haiku-4-5-20251001', 'anthropic/claude-haiku-4.5'],
    ['claude-sonnet-4-5', 'anthropic/claude-sonnet-4.5'],
    ['claude-opus-4-8[1m]', 'anthropic/claude-opus-4.8'],
    ['gpt-5.4', 'openai/gpt-5.4'],
    ['gpt-4.1', 'team/gpt-4.1'],
  ])('%s is %s', async (name, id) => {
    expect(await planned(name, path)).toBe(id)
  })

  test('404: an unknown name, with the nearest; a model that is not enabled, with what would enable it', async () => {
    expect(await planned('gpt-5.45', path)).toMatch(/^404: .*Did you mean .*openai\/gpt-5\.4/)
    expect(await planned('gemini-2.5-pro', path)).toMatch(/^404: .*operator can set GEMINI_API_KEY/)
    expect(await planned('ollama/llama3.2', path)).toMatch(/^404: .*operator can set OLLAMA_HOST\./)
    expect(await planned('groq/llama3.2', path)).not.toContain('operator can set')
    expect(await planned('echo', path)).toMatch(/^404: /)
  })

  test('404: a list of unknown names, each with the nearest, whole and streamed; one known name is enough', async () => {
    for (const stream of [false, true]) {
      const asked = (models: readonly string[]) => infer(service, { model: 'gpt-5.45', models, stream, ...questionFor(path) }, { path })
      const refused = await asked(['claude-opus-4-88', 'gpt-5.45'])
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([404, null])
      expect(refused.text).toMatch(/not_found/)
      expect(refused.text).toMatch(/gpt-5\.45.*openai\/gpt-5\.4.*claude-opus-4-88.*anthropic\/claude-opus-4\.8/)
      expect((await asked(['claude-opus-4-88', 'sandbox/echo'])).status).toBe(200)
    }
  })
})

describe('a preset of that name', () => {
  test('takes precedence over the model', async () => {
    await savePreset(service, 'claude-haiku-4-5-20251001', { model: 'openai/gpt-5.4-mini', instructions: 'Be brief.' })
    for (const path of PATHS) expect(await planned('claude-haiku-4-5-20251001', path)).toBe('openai/gpt-5.4-mini')
    await savePreset(service, 'gpt-5.4-nano', { model: 'sandbox/echo' })
    const answer = await infer(service, { model: 'gpt-5.4-nano', ...question })
    expect([answer.status, answer.headers.get('x-preset')]).toEqual([200, 'gpt-5.4-nano@1'])
  })

  test('is used with the model of that name if it has none', async () => {
    await savePreset(service, 'claude-opus-4-7', { temperature: 0.2 })
    expect(await planned('claude-opus-4-7', '/messages')).toBe('anthropic/claude-opus-4.7')
  })

  test('no longer takes precedence once archived; disabled, it is 403', async () => {
    await savePreset(service, 'gpt-5', { model: 'sandbox/echo' })
    await call(service, 'PATCH', '/presets/gpt-5', { body: { status: 'disabled' } })
    expect((await infer(service, { model: 'gpt-5', ...question })).status).toBe(403)
    await call(service, 'DELETE', '/presets/gpt-5')
    expect(await planned('gpt-5', '/chat/completions')).toBe('openai/gpt-5')
  })

  test('does not apply in another workspace', async () => {
    const made = await call(service, 'POST', '/workspaces', { body: { name: 'Other', slug: 'other' } })
    const { id } = (made.json as { data: { id: string } }).data
    const { key } = await createKey(service, { name: 'k', workspace_id: id })
    expect(await planned('claude-haiku-4-5-20251001', '/messages', key)).toBe('anthropic/claude-haiku-4.5')
  })
})

describe('the same names elsewhere', () => {
  const get = async (path: string): Promise<unknown> => (await call(service, 'GET', path, { key: service.inferenceKey })).json

  test('one model', async () => {
    expect(await get('/models/claude-sonnet-4-5')).toMatchObject({ id: 'anthropic/claude-sonnet-4.5', owned_by: 'anthropic' })
    expect(await get('/models/claude-haiku-4-5-20251001')).toMatchObject({ id: '@preset/claude-haiku-4-5-20251001' })
    expect(await get('/model/anthropic/claude-sonnet-4-5')).toMatchObject({ data: { id: 'anthropic/claude-sonnet-4.5' } })
    expect(await get('/models/anthropic/claude-sonnet-4-5/endpoints')).toMatchObject({ data: { id: 'anthropic/claude-sonnet-4.5' } })
  })

  test('the endpoints of a preset are those of the model that it asks first, or a 404 says why there are none', async () => {
    await savePreset(service, 'endpointed', { model: 'claude-sonnet-4-5', models: ['openai/gpt-5'] })
    const ofModel = await get('/models/anthropic/claude-sonnet-4.5/endpoints')
    expect(await get('/models/@preset/endpointed/endpoints')).toEqual(ofModel)
    expect(await get('/models/%40preset/endpointed/endpoints')).toEqual(ofModel)
    await savePreset(service, 'chosen-later', { model: 'openrouter/auto' })
    await savePreset(service, 'modelless', { temperature: 0 })
    const reason = async (slug: string): Promise<unknown> => {
      const answer = await call(service, 'GET', `/models/@preset/${slug}/endpoints`, { key: service.inferenceKey })
      return [answer.status, (answer.json as { error: { metadata: { reason: string } } }).error.metadata.reason]
    }
    expect(await reason('chosen-later')).toEqual([
      404,
      '@preset/chosen-later uses the router openrouter/auto, which chooses a model for each request, so it has no endpoints of its own.',
    ])
    expect(await reason('modelless')).toEqual([404, 'There is no preset "modelless" with a model.'])
    expect(await reason('none-such')).toEqual([404, 'There is no preset "none-such" with a model.'])
  })

  test('count_tokens', async () => {
    const count = (model: string) =>
      call(service, 'POST', '/messages/count_tokens', { key: service.inferenceKey, body: { model, messages: question.messages } })
    openai.script((exchange) => exchange.answer(200, '{"input_tokens":7}'))
    expect((await count('gpt-5.4')).json).toMatchObject({ input_tokens: 7, estimated: false })
    expect(openai.exchanges.at(-1)?.body).toMatchObject({ model: 'gpt-5.4' })
    expect((await count('gpt-5.45')).status).toBe(404)
  })
})

test.each<[string, string, object]>([
  ['model', '/chat/completions', { model: 'nobody/none', models: ['gpt-5.4'] }],
  ['models', '/responses', { model: 'gpt-5.4', models: ['nobody/none'] }],
  ['fallbacks', '/messages', { model: 'gpt-5.4', fallbacks: [{ model: 'nobody/none' }] }],
])('the warning about a model that does not exist names the field that contains it: %s', async (field, path, models) => {
  const { json } = await infer(service, { ...questionFor(path), ...models }, { path, headers: { 'X-Service-Dry-Run': 'enabled' } })
  const message = 'The model "nobody/none" does not exist here; it was passed over.'
  expect((json as { warnings: unknown }).warnings).toEqual(expect.arrayContaining([{ code: 'unsupported_field', field, message }]))
})
