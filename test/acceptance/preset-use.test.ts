/** Presets at inference, seen from both ends: what the client gets and what the provider was sent (docs/contract/presets.md#use). */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'

import { call, conversationOf, createKey, type Dialect, infer, PATHS, savePreset } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  claude: { dialects: [anthropic], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one }] }
  fake/limited: { supported_parameters: [temperature, max_tokens], endpoints: [{ provider: fake, model: up-limited }] }
  fake/priced: { endpoints: [{ provider: fake, model: up-priced, prices: { prompt: 1, completion: 1 } }] }
  fake/two: { endpoints: [{ provider: fake, model: up-two }] }
  fake/claude: { endpoints: [{ provider: claude, model: claude-haiku-4-5 }] }
`,
})

beforeEach(() => upstream.script(say('Hi.')))

const user = { role: 'user', content: 'Hello!' }
const tool = (name: string, description: string) => ({ type: 'function', function: { name, description, parameters: { type: 'object' } } })

const save = (slug: string, body: unknown) => savePreset(service, slug, body, 'chat/completions')

describe('naming it', () => {
  beforeAll(async () => {
    await save('named', { model: 'fake/one', temperature: 0.1, messages: [] })
    await save('named', { model: 'fake/one', temperature: 0.2, messages: [] })
    await call(service, 'PATCH', '/presets/named', { body: { labels: { first: 1 } } })
  })

  const ways: Readonly<Record<string, { request: object; preset: string; sent: object }>> = {
    '@preset/slug': { request: { model: '@preset/named' }, preset: 'named@2', sent: { model: 'up-one', temperature: 0.2 } },
    'a version pin': { request: { model: '@preset/named@1' }, preset: 'named@1', sent: { model: 'up-one', temperature: 0.1 } },
    'a label pin': { request: { model: '@preset/named@first' }, preset: 'named@1', sent: { model: 'up-one', temperature: 0.1 } },
    'a model of its own before it': {
      request: { model: 'fake/two@preset/named' },
      preset: 'named@2',
      sent: { model: 'up-two', temperature: 0.2 },
    },
    'a model of its own, and a pin': {
      request: { model: 'fake/two@preset/named@1' },
      preset: 'named@1',
      sent: { model: 'up-two', temperature: 0.1 },
    },
    'the field preset': { request: { model: 'fake/two', preset: 'named' }, preset: 'named@2', sent: { model: 'up-two', temperature: 0.2 } },
    'the field preset alone': { request: { preset: 'named' }, preset: 'named@2', sent: { model: 'up-one', temperature: 0.2 } },
    'the field preset with a pin': { request: { preset: 'named@1' }, preset: 'named@1', sent: { model: 'up-one', temperature: 0.1 } },
  }
  for (const [what, { request, preset, sent }] of Object.entries(ways)) {
    test(`200: by ${what}; the answer names the version used`, async () => {
      for (const stream of [false, true]) {
        const answer = await infer(service, { ...request, stream, messages: [user] })
        expect(answer.status).toBe(200)
        expect(answer.text).toContain('Hi.')
        expect(answer.headers.get('x-preset')).toBe(preset)
        expect(upstream.last.body).toMatchObject(sent)
        expect(upstream.last.body).not.toHaveProperty('preset')
      }
    })
  }

  test('200: the generation record names the preset and its version', async () => {
    const answer = await infer(service, { model: '@preset/named@1', messages: [user] })
    const preset = (await call(service, 'GET', '/presets/named')).preset
    const id = answer.headers.get('x-generation-id') ?? ''
    const record = await call(service, 'GET', `/generation?id=${id}`, { key: service.inferenceKey })
    expect(record.json).toMatchObject({ data: { id, preset_id: preset.id, preset_slug: 'named', preset_version: 1, model: 'fake/one' } })
  })

  const unknown: Readonly<Record<string, object>> = {
    'an unknown preset': { model: '@preset/never-made' },
    'an unknown preset behind a model': { model: 'fake/one@preset/never-made' },
    'an unknown preset in its field': { model: 'fake/one', preset: 'never-made' },
  }
  for (const [what, request] of Object.entries(unknown)) {
    test(`404: ${what}, by its name`, async () => {
      const answer = await infer(service, { ...request, messages: [user] })
      expect(answer.status).toBe(404)
      expect(answer.error.metadata).toMatchObject({ error_type: 'not_found' })
      expect(answer.error.message).toContain('never-made')
    })
  }

  for (const pin of ['99', 'no-such-label']) {
    test(`404: the pin @${pin}`, async () => {
      const answer = await infer(service, { model: `@preset/named@${pin}`, messages: [user] })
      expect(answer.status).toBe(404)
      expect(answer.error.metadata).toMatchObject({ error_type: 'not_found' })
    })
  }

  const malformed: Readonly<Record<string, object>> = {
    'no slug': { model: '@preset/' },
    'a slug that cannot be one': { model: '@preset/a b' },
    'two pins': { model: '@preset/named@1@2' },
    'two presets that differ': { model: '@preset/named', preset: 'other' },
    'a preset that is not a string': { model: 'fake/one', preset: 5 },
  }
  for (const [what, request] of Object.entries(malformed)) {
    test(`400: ${what}`, async () => {
      const answer = await infer(service, { ...request, messages: [user] })
      expect(answer.status).toBe(400)
      expect(answer.error.metadata).toMatchObject({ error_type: 'invalid_request' })
    })
  }

  test('400: a preset without a model, and none in the request', async () => {
    await save('no-model', { temperature: 0.3, messages: [] })
    const answer = await infer(service, { model: '@preset/no-model', messages: [user] })
    expect(answer.status).toBe(400)
    expect(answer.error.metadata).toMatchObject({ error_type: 'invalid_request' })
    const named = await infer(service, { model: 'fake/one@preset/no-model', messages: [user] })
    expect(named.status).toBe(200)
    expect(upstream.last.body).toMatchObject({ model: 'up-one', temperature: 0.3 })
  })

  beforeAll(async () => {
    await call(service, 'PATCH', '/guardrails/default', { body: { content_filters: [{ pattern: 'forbidden', action: 'block' }] } })
  })

  const refused: Readonly<Record<string, { status: number; request: object; said?: string; limit?: number; says: string }>> = {
    'a field that does not fit': { status: 400, request: { model: '@preset/named@1', temperature: 'hot' }, says: 'temperature' },
    'a loss that a strict request does not take': {
      status: 400,
      request: { model: '@preset/named@1', strict: true, plugins: [{ id: 'no-such-plugin' }] },
      says: 'strict',
    },
    'a guardrail that blocks': { status: 403, request: { model: '@preset/named@1' }, said: 'the forbidden word', says: 'content filter' },
    'a spent limit': { status: 403, request: { model: 'fake/priced@preset/named@1' }, limit: 0.000_001, says: 'limit' },
    'no provider that fits': { status: 503, request: { model: '@preset/named@1', provider: { only: ['nobody'] } }, says: 'provider' },
  }
  for (const [what, { status, request, said = 'Hello!', limit = null, says }] of Object.entries(refused)) {
    test(`${status}: ${what}; the refusal names the version used, on every interface`, async () => {
      const { key } = await createKey(service, { name: what, limit })
      for (const dialect of ['chat', 'responses', 'messages'] as const) {
        for (const stream of [false, true]) {
          for (const headers of [{}, { 'x-service-metadata': 'enabled' }]) {
            const asked = { max_tokens: 16, ...request, stream, ...conversationOf(dialect, said) }
            const answer = await infer(service, asked, { path: PATHS[dialect], headers, key })
            expect([dialect, answer.status, answer.headers.get('x-preset')]).toEqual([dialect, status, 'named@1'])
            expect(answer.text).toContain(says)
            expect(answer.headers.get('x-request-id')).toStartWith('req-')
          }
        }
      }
    })
  }

  test('200: a save is served at once', async () => {
    for (let version = 1; version <= 10; version += 1) {
      await save('fresh', { model: 'fake/one', seed: version, messages: [] })
      const answer = await infer(service, { model: '@preset/fresh', messages: [user] })
      expect(answer.headers.get('x-preset')).toBe(`fresh@${version}`)
      expect(upstream.last.body).toMatchObject({ seed: version })
    }
  })
})

describe('the merge', () => {
  test('the request takes precedence, one whole field at a time; what only one of them sets is kept', async () => {
    await save('merged', { model: 'fake/one', temperature: 0.1, top_p: 0.9, logit_bias: { 1: 5, 2: 6 }, messages: [] })
    await infer(service, { model: '@preset/merged', temperature: 0.7, seed: 3, logit_bias: { 1: 7 }, messages: [user] })
    expect(upstream.last.body).toMatchObject({ model: 'up-one', temperature: 0.7, top_p: 0.9, seed: 3 })
    expect(upstream.last.body['logit_bias']).toEqual({ 1: 7 })
  })

  test("a null field of the request keeps the preset's value", async () => {
    await infer(service, { model: '@preset/merged', temperature: null, messages: [user] })
    expect(upstream.last.body).toMatchObject({ temperature: 0.1 })
  })

  test('a zero in the request takes precedence', async () => {
    await infer(service, { model: '@preset/merged', temperature: 0, messages: [user] })
    expect(upstream.last.body).toMatchObject({ temperature: 0 })
  })

  test("tools are merged: the preset's in their order, replaced by one of the request with the same name, the others after them", async () => {
    await save('tooled', { model: 'fake/one', tools: [tool('alpha', 'preset'), tool('beta', 'preset')], messages: [] })
    await infer(service, { model: '@preset/tooled', tools: [tool('gamma', 'request'), tool('beta', 'request')], messages: [user] })
    expect(upstream.last.body.tools?.map((each) => [each.function.name, each.function.description])).toEqual([
      ['alpha', 'preset'],
      ['beta', 'request'],
      ['gamma', 'request'],
    ])
  })

  test.each([
    ['a function of the same name, and a choice', [{ name: 'a', description: 'request' }], { name: 'a' }, ['request', 'preset']],
    ['another function', [{ name: 'c', description: 'request' }], 'auto', ['preset', 'preset', 'request']],
    ['a choice alone', undefined, 'auto', ['preset', 'preset']],
  ])('the request takes precedence with the older tool fields too: %s', async (_, functions, choice, descriptions) => {
    await save('older', { model: 'fake/one', tools: [tool('a', 'preset'), tool('b', 'preset')], tool_choice: 'none', messages: [] })
    const answer = await infer(service, { model: '@preset/older', messages: [user], functions, function_call: choice })
    expect(answer.status).toBe(200)
    expect(upstream.last.body.tools?.map((each) => each.function.description)).toEqual(descriptions)
    expect(upstream.last.body).toMatchObject({ tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: choice } })
  })

  test("a locked field keeps the preset's value, and the metadata says so", async () => {
    await save('locked', { model: 'fake/one', temperature: 0.1, top_p: 0.5, locked: ['temperature', 'model'], messages: [] })
    const answer = await infer(
      service,
      { model: 'fake/two@preset/locked', temperature: 0.9, top_p: 0.6, messages: [user] },
      { headers: { 'x-service-metadata': 'enabled' } },
    )
    expect(answer.status).toBe(200)
    expect(upstream.last.body).toMatchObject({ model: 'up-one', temperature: 0.1, top_p: 0.6 })
    const { service_metadata: metadata } = answer.json as { service_metadata?: { warnings?: unknown } }
    expect(JSON.stringify(metadata?.warnings)).toContain('temperature')
    expect(JSON.stringify(metadata?.warnings)).toContain('model')
    expect(upstream.last.body).not.toHaveProperty('locked')
  })

  test('400: a locked field, if the preset rejects such requests', async () => {
    await save('strict', { model: 'fake/one', temperature: 0.1, locked: ['temperature'], on_locked: 'reject', messages: [] })
    const answer = await infer(service, { model: '@preset/strict', temperature: 0.9, messages: [user] })
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.error)).toContain('temperature')
    expect((await infer(service, { model: '@preset/strict', messages: [user] })).status).toBe(200)
    expect(upstream.last.body).not.toHaveProperty('on_locked')
  })

  test('a locked field that the preset does not set cannot be set by anybody', async () => {
    await save('closed', { model: 'fake/one', locked: ['tools'], messages: [] })
    await infer(service, { model: '@preset/closed', tools: [tool('alpha', 'request')], messages: [user] })
    expect(upstream.last.body).not.toHaveProperty('tools')
  })
})

describe('how much a model thinks, and whether it is shown', () => {
  const sentWith = async (settings: object, request: object): Promise<object> => {
    await save('thoughtful', { model: 'fake/claude', max_tokens: 9000, ...settings })
    const answer = await infer(
      service,
      { model: '@preset/thoughtful', messages: [user], ...request },
      { headers: { 'X-Service-Dry-Run': 'enabled' } },
    )
    return (answer.json as { upstream_request: { body: object } }).upstream_request.body
  }

  test("a request that hides the thinking keeps the preset's effort, and one that sets the effort keeps it hidden", async () => {
    const hidden = { thinking: { type: 'enabled', display: 'omitted' } }
    expect(await sentWith({ reasoning_effort: 'high' }, { include_reasoning: false })).toMatchObject(hidden)
    expect(await sentWith({ include_reasoning: false }, { reasoning_effort: 'high' })).toMatchObject(hidden)
    expect(await sentWith({ reasoning: { max_tokens: 6000, exclude: true } }, { reasoning_effort: 'low' })).toMatchObject({
      thinking: { type: 'enabled', display: 'omitted', budget_tokens: 4096 },
    })
  })
})

test("where a provider of another dialect does not get a vendor's name of a setting, the preset's own value counts", async () => {
  const settings = { max_tokens: 3000, stop: ['END'], reasoning: { max_tokens: 2000 } }
  const words = { num_predict: 9, options: { stop_sequence: ['x'] }, enable_thinking: true }
  const claude = { max_tokens: 3000, stop_sequences: ['END'], thinking: { type: 'enabled', budget_tokens: 2000 } }
  for (const [model, sent] of [['fake/claude', claude] as const, ['fake/one', words] as const]) {
    await save('worded', { model, ...settings })
    for (const headers of [{}, { 'X-Service-Dry-Run': 'enabled' }]) {
      const asked = upstream.exchanges.length
      const answer = await infer(service, { model: '@preset/worded', messages: [user], ...words }, { headers })
      const body =
        upstream.exchanges.length > asked
          ? upstream.last.body
          : (answer.json as { upstream_request: { body: Readonly<Record<string, unknown>> } }).upstream_request.body
      expect(body).toMatchObject(sent)
      for (const field of Object.keys(settings)) expect([field, Object.hasOwn(body, field)]).toEqual([field, Object.hasOwn(sent, field)])
    }
  }
})

test("a vendor's name that turns thinking off does not bring back the preset's thinking at a provider of another dialect", async () => {
  await save('worded-off', { model: 'fake/claude', max_tokens: 3000, reasoning: { max_tokens: 2000 } })
  for (const off of [{ enable_thinking: false }, { disable_reasoning: true }, { chat_template_kwargs: { thinking_budget: 0 } }]) {
    await infer(service, { model: '@preset/worded-off', messages: [user], ...off })
    expect([off, upstream.last.body]).toEqual([off, expect.not.objectContaining({ thinking: expect.anything() })])
    expect(upstream.last.body).toMatchObject({ max_tokens: 3000 })
  }
})

describe('the system prompt', () => {
  test("the preset's comes first, the request's own after it, each as a message", async () => {
    await save('prompted', { model: 'fake/one', messages: [{ role: 'system', content: 'From the preset.' }] })
    await infer(service, { model: '@preset/prompted', messages: [{ role: 'system', content: 'From the request.' }, user] })
    expect(upstream.last.body.messages).toEqual([
      { role: 'system', content: 'From the preset.' },
      { role: 'system', content: 'From the request.' },
      user,
    ])
  })

  test('a preset saved from a responses body serves chat completions with its own settings', async () => {
    await savePreset(service, 'from-responses', {
      model: 'fake/one',
      instructions: 'Be kind.',
      max_output_tokens: 77,
      text: { verbosity: 'low' },
    })
    await infer(service, { model: '@preset/from-responses', messages: [user] })
    expect(upstream.last.body.messages).toEqual([{ role: 'system', content: 'Be kind.' }, user])
    expect(upstream.last.body).toMatchObject({ verbosity: 'low' })
    expect([upstream.last.body['max_tokens'], upstream.last.body['max_completion_tokens']]).toContain(77)
    expect(upstream.last.body).not.toHaveProperty('max_output_tokens')
    expect(upstream.last.body).not.toHaveProperty('instructions')
    expect(upstream.last.body).not.toHaveProperty('text')
  })

  test('a preset saved from a messages body serves chat completions with its own settings', async () => {
    await savePreset(
      service,
      'from-messages',
      { model: 'fake/one', system: 'Be kind.', max_tokens: 55, stop_sequences: ['END'], messages: [] },
      'messages',
    )
    await infer(service, { model: '@preset/from-messages', messages: [user] })
    expect(upstream.last.body.messages).toEqual([{ role: 'system', content: 'Be kind.' }, user])
    expect(upstream.last.body).toMatchObject({ stop: ['END'] })
    expect([upstream.last.body['max_tokens'], upstream.last.body['max_completion_tokens']]).toContain(55)
    expect(upstream.last.body).not.toHaveProperty('stop_sequences')
  })

  test('200: a preset serves all three interfaces', async () => {
    await savePreset(service, 'everywhere', { model: 'sandbox/echo', instructions: 'Be kind.' })
    const responses = await infer(service, { model: '@preset/everywhere', input: 'Hello!' }, { path: '/responses' })
    expect(responses.json).toMatchObject({ object: 'response', status: 'completed' })
    expect(responses.headers.get('x-preset')).toBe('everywhere@1')
    const messages = await infer(service, { model: '@preset/everywhere', max_tokens: 20, messages: [user] }, { path: '/messages' })
    expect(messages.json).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hello!' }] })
    expect(messages.headers.get('x-preset')).toBe('everywhere@1')
  })
})

test('a dry run and a refused one name the version in X-Preset, as the request itself does', async () => {
  await savePreset(service, 'tried', { model: 'fake/one', max_tokens: 10 }, 'chat/completions')
  const ask = (fields: object) =>
    infer(service, { model: '@preset/tried', messages: [user], ...fields }, { headers: { 'X-Service-Dry-Run': 'enabled' } })
  const answers = [await ask({}), await ask({ temperature: 'hot' })]
  expect(answers.map(({ status, headers }) => [status, headers.get('x-preset')])).toEqual([
    [200, 'tried@1'],
    [400, 'tried@1'],
  ])
})

describe('on another interface', () => {
  const dryRun = async (
    path: string,
    body: Readonly<Record<string, unknown>>,
  ): Promise<{ sent: Record<string, unknown>; warnings: readonly { field: string }[] }> => {
    const { status, json } = await infer(service, body, { path, headers: { 'X-Service-Dry-Run': 'enabled' } })
    expect(status).toBe(200)
    const { upstream_request: request, warnings } = json as {
      upstream_request: { body: Record<string, unknown> }
      warnings: readonly { field: string }[]
    }
    return { sent: request.body, warnings }
  }

  test('a field that only shows or hides thinking does not turn it on', async () => {
    const saved: readonly [string, object, string][] = [
      ['chat/completions', { include_reasoning: false }, 'include_reasoning'],
      ['chat/completions', { reasoning: { exclude: true } }, 'reasoning'],
      ['responses', { reasoning: { summary: 'auto' } }, 'reasoning'],
    ]
    for (const [shape, settings, field] of saved) {
      await savePreset(service, 'shown', { model: 'fake/claude', ...settings }, shape)
      const { sent, warnings } = await dryRun('/messages', { model: '@preset/shown', messages: [user], max_tokens: 100 })
      expect(sent).not.toHaveProperty('thinking')
      expect(warnings.map((warning) => warning.field)).toEqual([field])
    }
    await savePreset(service, 'shown', { model: 'fake/claude', reasoning: { enabled: true } }, 'chat/completions')
    const asked = await dryRun('/messages', { model: '@preset/shown', messages: [user], max_tokens: 4000 })
    expect(asked.sent).toHaveProperty('thinking')
  })

  test('the description of a format stays with its schema on Messages', async () => {
    const format = { name: 'n', description: 'One parcel.', schema: { type: 'object', properties: {}, additionalProperties: false } }
    await save('formed', { model: 'fake/claude', response_format: { type: 'json_schema', json_schema: format } })
    const { sent } = await dryRun('/messages', { model: '@preset/formed', messages: [user], max_tokens: 100 })
    expect(sent).toMatchObject({ output_config: { format: { schema: { description: 'One parcel.' } } } })
  })

  test('an effort without thinking, which only Messages has, is reported as lost', async () => {
    const settings = { thinking: { type: 'disabled' }, output_config: { effort: 'low' } }
    await savePreset(service, 'careful', { model: 'fake/claude', max_tokens: 10, ...settings }, 'messages')
    const { sent, warnings } = await dryRun('/chat/completions', { model: '@preset/careful', messages: [user] })
    expect([sent['output_config'], warnings.map(({ field }) => field)]).toEqual([undefined, ['output_config.effort']])
  })

  test('the fast speed beside the automatic tier stays the fast tier, and beside another one is reported as lost', async () => {
    await savePreset(service, 'quick', { model: 'fake/one', max_tokens: 10, speed: 'fast', service_tier: 'auto' }, 'messages')
    expect((await dryRun('/chat/completions', { model: '@preset/quick', messages: [user] })).sent['service_tier']).toBe('priority')
    await savePreset(service, 'quick', { model: 'fake/one', max_tokens: 10, speed: 'fast', service_tier: 'flex' }, 'messages')
    const { sent, warnings } = await dryRun('/chat/completions', { model: '@preset/quick', messages: [user] })
    expect([sent['service_tier'], warnings.map(({ field }) => field)]).toEqual(['flex', ['speed']])
  })

  test('a choice of a function that does not exist is a 400 that names it', async () => {
    const messagesTool = { name: 'look', input_schema: { type: 'object' } }
    const body = { model: 'fake/one', max_tokens: 10, tools: [messagesTool], tool_choice: { type: 'tool', name: 'gone' } }
    await savePreset(service, 'choosy', body, 'messages')
    for (const request of [body, { model: '@preset/choosy', max_tokens: 10 }]) {
      const { status, json } = await infer(service, { ...request, messages: [user] }, { path: '/messages' })
      expect({ status, json }).toMatchObject({
        status: 400,
        json: { error: { message: expect.stringContaining('There is no tool named gone among the tools.') } },
      })
    }
  })
})

describe('what cannot be fulfilled', () => {
  test('400: prompt and previous_response_id at inference', async () => {
    for (const more of [{ prompt: { id: 'pmpt_1' } }, { previous_response_id: 'resp_1' }]) {
      const answer = await infer(service, { model: 'sandbox/echo', input: 'Hi', ...more }, { path: '/responses' })
      expect(answer.status).toBe(400)
      expect(JSON.stringify(answer.json)).toContain(Object.keys(more)[0] ?? '')
    }
    const nothing = await infer(
      service,
      { model: 'sandbox/echo', input: 'Hi', prompt: null, previous_response_id: null },
      { path: '/responses' },
    )
    expect(nothing.status).toBe(200)
  })

  test('403: a management key cannot call a model', async () => {
    for (const path of ['/chat/completions', '/responses', '/messages']) {
      const answer = await infer(service, { model: 'sandbox/echo' }, { path, key: service.managementKey })
      expect(answer.status).toBe(403)
      expect(answer.text).toContain('permission_')
    }
  })

  test('404: an unknown model, with known ones that look similar', async () => {
    const answer = await infer(service, { model: 'sandbox/ecco', messages: [user] })
    expect(answer.status).toBe(404)
    expect(answer.error.metadata).toMatchObject({ error_type: 'not_found' })
    expect(answer.error.message).toContain('sandbox/echo')
  })

  test('503: no provider fits, and the error says which filter removed which', async () => {
    const answer = await infer(service, { model: 'fake/one', provider: { only: ['other'] }, messages: [user] })
    expect(answer.status).toBe(503)
    expect(JSON.stringify(answer.error)).toContain('only')
    expect(JSON.stringify(answer.error)).toContain('fake')
  })
})

describe('a setting for which the interface of the request has no field', () => {
  const ask = (dialect: Dialect, model: string, more: object = {}, key = service.inferenceKey) =>
    call(service, 'POST', PATHS[dialect], {
      key,
      body: { model, ...conversationOf(dialect, 'Hello!'), ...more },
      headers: { 'x-service-metadata': 'enabled' },
    })
  const warningsOf = (answer: { readonly json: unknown }) =>
    ((answer.json as { service_metadata?: { warnings?: readonly { field: string }[] } }).service_metadata?.warnings ?? []).map(
      ({ field }) => field,
    )
  const CLAUDES_ANSWER = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5',
    content: [{ type: 'text', text: 'Hi.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const all = {
    seed: 7,
    stop: 'END',
    frequency_penalty: 0.5,
    logit_bias: { 50256: -1 },
    min_p: 0.1,
    verbosity: 'low',
    response_format: { type: 'json_object' },
  }

  beforeAll(async () => {
    await save('carried', { model: 'fake/one', ...all, locked: ['seed'], messages: [] })
    await save('strictly', { model: 'fake/one', seed: 7, strict: true, messages: [] })
    await save('demanding', { model: 'fake/one', seed: 7, provider: { require_parameters: true }, messages: [] })
    await save('formed', { model: 'fake/two', response_format: { type: 'json_object' }, locked: ['response_format'], messages: [] })
    await save('moderated', { model: 'fake/one', moderation: { model: 'omni-moderation-latest' }, messages: [] })
    await savePreset(service, 'ended', { model: 'fake/one', max_tokens: 9, stop_sequences: ['A', 'B'], messages: [] }, 'messages')
  })

  test.each(['messages', 'responses'] as const)(
    'on %s: a provider of another dialect gets it, and nothing is reported',
    async (dialect) => {
      const answer = await ask(dialect, '@preset/carried')
      expect(answer.status).toBe(200)
      expect(upstream.last.body).toMatchObject({ ...all, stop: ['END'] })
      expect(warningsOf(answer)).toEqual([])
    },
  )

  test('stop sequences that were saved on Messages end an answer on Responses', async () => {
    await ask('responses', '@preset/ended')
    expect(upstream.last.body).toMatchObject({ stop: ['A', 'B'] })
  })

  test('a provider of the same dialect cannot get it, which is a warning, and 400 for a strict request', async () => {
    upstream.script((exchange) => exchange.answer(200, JSON.stringify(CLAUDES_ANSWER)))
    const answer = await ask('messages', 'fake/claude@preset/carried', { max_tokens: 9 })
    expect(answer.status).toBe(200)
    expect(warningsOf(answer).toSorted()).toEqual(['frequency_penalty', 'logit_bias', 'min_p', 'response_format', 'seed', 'verbosity'])
    expect(upstream.last.body).not.toHaveProperty('seed')
    const strict = await ask('messages', 'fake/claude@preset/strictly', { max_tokens: 9 })
    expect(strict.status).toBe(400)
    expect(strict.text).toContain('seed: The request is strict. Otherwise it would get this warning:')
  })

  test('JSON without a schema gives way to a format of the request, unless it is locked', async () => {
    const output_config = { format: { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } } }
    await ask('messages', '@preset/carried', { output_config })
    expect(upstream.last.body).toMatchObject({ response_format: { type: 'json_schema' } })
    // The provider that has no JSON without a schema loses nothing either.
    upstream.script((exchange) => exchange.answer(200, JSON.stringify(CLAUDES_ANSWER)))
    expect(warningsOf(await ask('messages', 'fake/claude@preset/carried', { output_config, max_tokens: 9 }))).not.toContain(
      'response_format',
    )
    const answer = await ask('messages', '@preset/formed', { output_config })
    expect(upstream.last.body).toMatchObject({ response_format: { type: 'json_object' } })
    expect(warningsOf(answer)).toEqual(['output_config.format'])
  })

  test('400: moderation by the vendor, without which no answer may be given', async () => {
    for (const model of ['@preset/moderated', 'fake/claude@preset/moderated']) {
      const answer = await ask('messages', model, { max_tokens: 9 })
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('moderation: ')
    }
  })

  test('its record has them beside the settings of the request, and a preset that is made from it says that it lacks them', async () => {
    const { headers } = await ask('messages', '@preset/carried', { max_tokens: 9 })
    const generation_id = headers.get('x-generation-id')
    const { stop: _, ...carried } = all
    const record = await call(service, 'GET', `/generation?id=${generation_id}`)
    expect((record.json as { data: object }).data).toMatchObject({
      settings_carried: carried,
      settings: { max_tokens: 9, stop_sequences: ['END'] },
    })
    const saved = await call(service, 'POST', '/presets/again/from-generation', { body: { generation_id } })
    expect((saved.json as { warnings: string[] }).warnings.join()).toContain('seed')
  })

  test('a request that demands every parameter goes to no provider that lacks it', async () => {
    const answer = await ask('messages', 'fake/limited@preset/demanding')
    expect(answer.status).toBe(503)
    expect(answer.text).toContain('seed')
  })

  test('a guardrail that rewrites the request leaves it there', async () => {
    const rules = { name: 'mails', content_filter_builtins: [{ slug: 'email', action: 'redact' }] }
    const { data: guardrail } = (await call(service, 'POST', '/guardrails', { body: rules })).json as { data: { id: string } }
    const { key, data } = await createKey(service, { name: 'screened' })
    await call(service, 'POST', `/guardrails/${guardrail.id}/assignments/keys`, { body: { key_hashes: [data.hash] } })
    await ask('messages', '@preset/carried', { messages: [{ role: 'user', content: 'Mail a@b.io' }] }, key)
    expect(upstream.last.body).toMatchObject({ ...all, stop: ['END'], messages: [{ content: 'Mail [EMAIL]' }] })
  })

  test('200: a strict request that a provider can honour', async () => {
    const answer = await ask('messages', '@preset/strictly', { max_tokens: 9 })
    expect(answer.status).toBe(200)
    expect(upstream.last.body).toMatchObject({ seed: 7 })
  })
})
