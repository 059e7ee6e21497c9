/** Presets from request bodies (docs/contract/presets.md#create). */
import { describe, expect, test } from 'bun:test'

import { call, callRaw, infer, savePreset } from '../support/calls.ts'
import { useServices } from '../support/started-service.ts'

const service = await useServices().start({ config: 'limits: { max_body_bytes: 65536 }\n' })

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

const PRESET_FIELDS = [
  'id',
  'slug',
  'name',
  'description',
  'status',
  'status_updated_at',
  'created_at',
  'updated_at',
  'creator_user_id',
  'workspace_id',
  'designated_version_id',
  'designated_version',
]
const VERSION_FIELDS = ['id', 'preset_id', 'version', 'config', 'system_prompt', 'creator_id', 'created_at', 'updated_at']

describe('what is stored', () => {
  test('200: a responses body becomes an active preset with version 1, every field present', async () => {
    const answer = await savePreset(service, 'from-responses', {
      model: 'sandbox/echo',
      instructions: 'Be kind.',
      input: 'Hello!',
      temperature: 0.25,
      stream: true,
    })
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.preset)).toEqual(expect.arrayContaining(PRESET_FIELDS))
    expect(Object.keys(answer.preset.designated_version)).toEqual(expect.arrayContaining(VERSION_FIELDS))
    expect(answer.preset).toMatchObject({
      id: expect.stringMatching(UUID),
      slug: 'from-responses',
      name: 'from-responses',
      description: null,
      status: 'active',
      status_updated_at: null,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
      creator_user_id: expect.stringMatching(/./),
      workspace_id: expect.stringMatching(UUID),
      designated_version_id: answer.preset.designated_version.id,
    })
    expect(answer.preset.designated_version).toMatchObject({
      id: expect.stringMatching(UUID),
      preset_id: answer.preset.id,
      version: 1,
      system_prompt: 'Be kind.',
      creator_id: answer.preset.creator_user_id,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    })
    expect(answer.preset.designated_version.config).toEqual({ model: 'sandbox/echo', temperature: 0.25 })
  })

  test('200: a messages body keeps max_tokens and its system text', async () => {
    const answer = await savePreset(
      service,
      'from-messages',
      { model: 'sandbox/echo', max_tokens: 1024, system: 'Be brief.', messages: [{ role: 'user', content: 'Hi' }], stream: false },
      'messages',
    )
    expect(answer.status).toBe(200)
    expect(answer.preset.designated_version).toMatchObject({ version: 1, system_prompt: 'Be brief.' })
    expect(answer.preset.designated_version.config).toEqual({ model: 'sandbox/echo', max_tokens: 1024 })
  })

  test('200: system blocks of a messages body are joined by a blank line', async () => {
    const system = [
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.' },
    ]
    const answer = await savePreset(service, 'system-blocks', { model: 'sandbox/echo', max_tokens: 9, system, messages: [] }, 'messages')
    expect(answer.preset.designated_version.system_prompt).toBe('One.\n\nTwo.')
    expect(answer.preset.designated_version.config).toEqual({ model: 'sandbox/echo', max_tokens: 9 })
  })

  test('200: system blocks that carry more than text are kept as they are', async () => {
    const system = [{ type: 'text', text: 'One.', cache_control: { type: 'ephemeral' } }]
    const answer = await savePreset(service, 'marked-blocks', { model: 'sandbox/echo', max_tokens: 9, system, messages: [] }, 'messages')
    expect(answer.preset.designated_version.system_prompt).toBe('One.')
    expect(answer.preset.designated_version.config).toEqual({ model: 'sandbox/echo', max_tokens: 9, system })
  })

  test('200: the leading system and developer messages of a chat body are its system text', async () => {
    const messages = [
      { role: 'system', content: 'One.' },
      { role: 'developer', content: [{ type: 'text', text: 'Two.' }] },
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Too late.' },
    ]
    const answer = await savePreset(service, 'from-chat', { model: 'sandbox/echo', messages, seed: 7 }, 'chat/completions')
    expect(answer.status).toBe(200)
    expect(answer.preset.designated_version.system_prompt).toBe('One.\n\nTwo.')
    expect(answer.preset.designated_version.config).toEqual({ model: 'sandbox/echo', seed: 7 })
  })

  test('200: fields that a preset does not keep are ignored, whatever their value', async () => {
    const answer = await savePreset(service, 'ignoring', {
      model: 'sandbox/echo',
      input: { not: 'checked' },
      stream: 'perhaps',
      prompt: { id: 'pmpt_1', variables: { a: 'b' } },
      messages: 5,
      metadata: { a: 1 },
      user: 42,
      session_id: 'abc',
      unheard_of: { deep: [true] },
    })
    expect(answer.status).toBe(200)
    expect(answer.preset.designated_version.config).toEqual({ model: 'sandbox/echo' })
    expect(answer.preset.designated_version.system_prompt).toBeNull()
  })

  test.each(['responses', 'chat/completions', 'messages'])('200: `prompt` is ignored on %s, whatever its value', async (shape) => {
    for (const prompt of [{ id: 'pmpt_1' }, 'Once upon a time', 7]) {
      const answer = await savePreset(service, 'prompting', { model: 'sandbox/echo', max_tokens: 9, prompt }, shape)
      expect(answer.status).toBe(200)
      expect(answer.preset.designated_version.config).not.toHaveProperty('prompt')
    }
  })

  test('200: null fields are absent from the config', async () => {
    const answer = await savePreset(service, 'nulls', {
      model: 'sandbox/echo',
      temperature: null,
      top_p: null,
      tools: null,
      reasoning: null,
      input: 'x',
    })
    expect(answer.status).toBe(200)
    expect(answer.preset.designated_version.config).toEqual({ model: 'sandbox/echo' })
  })

  test('200: zero and false count as values, not as absent', async () => {
    const answer = await savePreset(service, 'zeros', {
      model: 'sandbox/echo',
      temperature: 0,
      parallel_tool_calls: false,
      max_output_tokens: 1,
    })
    expect(answer.preset.designated_version.config).toEqual({
      model: 'sandbox/echo',
      temperature: 0,
      parallel_tool_calls: false,
      max_output_tokens: 1,
    })
  })

  test('200: fields keep their original names', async () => {
    const text = { format: { type: 'json_object' }, verbosity: 'low' }
    const answer = await savePreset(service, 'own-names', { model: 'sandbox/json', max_output_tokens: 64, text })
    expect(answer.preset.designated_version.config).toEqual({ model: 'sandbox/json', max_output_tokens: 64, text })
  })

  test('200: a preset may have no model', async () => {
    const answer = await savePreset(service, 'no-model', { temperature: 0.5 })
    expect(answer.status).toBe(200)
    expect(answer.preset.designated_version.config).toEqual({ temperature: 0.5 })
  })

  test('200: a tool of an unknown type is kept, and the answer has a warning', async () => {
    const tools = [{ type: 'telepathy_20300101', name: 'guess' }]
    const answer = await savePreset(service, 'unknown-tool', { model: 'sandbox/tools', tools })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-service-warnings')).toBe('1')
    expect(answer.preset.designated_version.config).toEqual({ model: 'sandbox/tools', tools })
  })

  test('200: each model and fallback model that does not exist here is saved, with a warning in the words of the refusal', async () => {
    const unknown = ['sandbox/ehco', 'nobody/nothing']
    const answer = await savePreset(service, 'unknown-models', { model: unknown[0], models: ['sandbox/echo', unknown[1]] })
    expect(answer.status).toBe(200)
    expect(answer.preset.designated_version.config).toEqual({ model: unknown[0], models: ['sandbox/echo', unknown[1]] })
    const warned = answer.headers.get('x-service-warning')
    const refused = await Promise.all(
      unknown.map(
        async (model) =>
          (await infer(service, { model, messages: [{ role: 'user', content: 'Hi.' }] })).json as { error: { message: string } },
      ),
    )
    expect(warned).toBe(`model: ${refused[0]?.error.message} models: ${refused[1]?.error.message}`)
    expect(warned).toContain('Did you mean sandbox/echo')

    const fallbacks = [{ model: 'nobody/nothing' }]
    const messages = await call(service, 'POST', '/presets/unknown-fallback/messages', {
      body: { model: 'sandbox/echo', max_tokens: 5, fallbacks },
    })
    expect([messages.status, messages.headers.get('x-service-warning')]).toEqual([200, expect.stringMatching(/^fallbacks: .*nobody/)])
  })

  test.each(['sandbox/echo:nitro', 'patchbay/auto', 'openrouter/free', 'service/fusion', 'patchbay/pareto-code'])(
    '200: %s, which requests may name, is saved without a warning',
    async (model) => {
      const answer = await savePreset(service, 'known-model', { model })
      expect([answer.status, answer.headers.get('x-service-warnings')]).toEqual([200, null])
    },
  )
})

describe('versions', () => {
  test('200: a second post makes version 2, which replaces the whole first version and is designated', async () => {
    const first = await savePreset(service, 'twice', { model: 'sandbox/echo', temperature: 0.1, instructions: 'One.' })
    const second = await savePreset(service, 'twice', { model: 'sandbox/lorem', max_tokens: 5, messages: [] }, 'messages')
    expect(second.preset.id).toBe(first.preset.id)
    expect(second.preset.created_at).toBe(first.preset.created_at)
    expect(second.preset.designated_version_id).not.toBe(first.preset.designated_version_id)
    expect(second.preset.designated_version).toMatchObject({ version: 2, system_prompt: null })
    expect(second.preset.designated_version.config).toEqual({ model: 'sandbox/lorem', max_tokens: 5 })
    const kept = await call(service, 'GET', '/presets/twice/versions/1')
    expect(kept.json).toEqual({ data: first.preset.designated_version })
  })

  test('200: the same body again is a new version too', async () => {
    const body = { model: 'sandbox/echo' }
    await savePreset(service, 'same-again', body)
    expect((await savePreset(service, 'same-again', body)).preset.designated_version.version).toBe(2)
  })
})

describe('Idempotency-Key', () => {
  const save = (slug: string, key: string, body: unknown) =>
    call(service, 'POST', `/presets/${slug}/responses`, { body, headers: { 'idempotency-key': key } })

  test('200: a repetition gets the first answer again, byte by byte, and writes nothing', async () => {
    const first = await save('idempotent', 'key-1', { model: 'sandbox/echo' })
    await savePreset(service, 'idempotent', { model: 'sandbox/lorem' })
    const again = await save('idempotent', 'key-1', { model: 'sandbox/echo' })
    expect(again.status).toBe(200)
    expect(again.text).toBe(first.text)
    const versions = await call(service, 'GET', '/presets/idempotent/versions')
    expect(versions.versions.map(({ version }) => version)).toEqual([1, 2])
  })

  test('400: the same key with another body', async () => {
    await save('mismatch', 'key-2', { model: 'sandbox/echo' })
    const other = await save('mismatch', 'key-2', { model: 'sandbox/lorem' })
    expect(other.status).toBe(400)
    expect(other.error).toMatchObject({ code: 400, message: 'Invalid request parameters' })
    expect((await call(service, 'GET', '/presets/mismatch')).preset.designated_version.version).toBe(1)
  })

  test('200: the same key means something else for another slug', async () => {
    await save('scope-a', 'key-3', { model: 'sandbox/echo' })
    expect((await save('scope-b', 'key-3', { model: 'sandbox/lorem' })).preset.slug).toBe('scope-b')
  })

  test('200: a hundred repetitions at once write one version', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => save('stampede', 'key-4', { model: 'sandbox/echo' })))
    // A 409 means that the first request is still in progress.
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
    expect((await call(service, 'GET', '/presets/stampede')).preset.designated_version.version).toBe(1)
  })
})

describe('slugs', () => {
  const good = ['x', 'a'.repeat(128), 'Support-Bot', 'v1.2.3', '~team', '_', '-', '...', '.hidden', 'a..b', '0']
  for (const slug of good) {
    test(`200: ${slug.length > 40 ? `${slug.length} characters` : slug}`, async () => {
      const answer = await savePreset(service, slug, { model: 'sandbox/echo' })
      expect(answer.status).toBe(200)
      expect(answer.preset.slug).toBe(slug)
      expect((await call(service, 'GET', `/presets/${slug}`)).preset.id).toBe(answer.preset.id)
    })
  }

  test('200: slugs that differ only in case are two presets', async () => {
    const lower = await savePreset(service, 'case', { model: 'sandbox/echo' })
    const upper = await savePreset(service, 'CASE', { model: 'sandbox/echo' })
    expect(upper.preset.id).not.toBe(lower.preset.id)
    expect(upper.preset.designated_version.version).toBe(1)
  })

  test('200: percent encoding is decoded once', async () => {
    const answer = await callRaw(service, 'POST', '/api/v1/presets/%73%75pport%2Dx/responses', { model: 'sandbox/echo' })
    expect(answer.preset.slug).toBe('support-x')
  })

  const bad = {
    '129 characters': 'a'.repeat(129),
    'one dot': '.',
    'two dots': '..',
    'an encoded dot': '%2E',
    'two encoded dots': '%2e%2e',
    'an encoded slash': 'a%2Fb',
    'an encoded zero byte': 'a%00b',
    'a broken encoding': '%E0%A4%A',
    'a lonely percent sign': '%',
    'invalid UTF-8': '%ff',
    'an encoded space': 'a%20b',
    'a plus sign': 'a+b',
    'unicode, encoded': '%C3%A9t%C3%A9',
    'unicode, raw': 'été',
    'an at sign': 'a@b',
    'a colon': 'a:b',
    'an encoded percent sign': 'a%2561',
  }
  for (const [what, slug] of Object.entries(bad)) {
    test(`400: ${what}`, async () => {
      const answer = await callRaw(service, 'POST', `/api/v1/presets/${slug}/responses`, { model: 'sandbox/echo' })
      expect(answer.status).toBe(400)
      expect(answer.error).toMatchObject({ code: 400, message: 'Invalid request parameters' })
      expect(answer.error.metadata).toMatchObject({ reason: expect.stringMatching(/./) })
    })
  }

  test('400: an empty slug', async () => {
    const answer = await callRaw(service, 'POST', '/api/v1/presets//responses', { model: 'sandbox/echo' })
    expect([answer.status, answer.error.message]).toEqual([400, 'Invalid request parameters'])
  })
})

describe('refusals', () => {
  const invalid: Readonly<Record<string, { body: unknown; shape?: string; path?: string }>> = {
    'a stored field of the wrong type': { body: { model: 'sandbox/echo', temperature: 'hot' }, path: 'temperature' },
    'a stored field out of range': { body: { model: 'sandbox/echo', temperature: 2.5 }, path: 'temperature' },
    'a model that is not a string': { body: { model: 5 }, path: 'model' },
    'a tool that is not an object': { body: { model: 'sandbox/echo', tools: ['x'] }, path: 'tools' },
    'a system text that is not one': { body: { model: 'sandbox/echo', max_tokens: 5, system: 7 }, shape: 'messages', path: 'system' },
    'a negative max_tokens': { body: { model: 'sandbox/echo', max_tokens: -1 }, shape: 'messages', path: 'max_tokens' },
    'more than three fallbacks': {
      body: { model: 'sandbox/echo', max_tokens: 5, fallbacks: Array.from({ length: 4 }, () => ({ model: 'sandbox/lorem' })) },
      shape: 'messages',
      path: 'fallbacks',
    },
    'more than 30 tool calls': { body: { model: 'sandbox/echo', max_tool_calls: 31 }, path: 'max_tool_calls' },
    'a previous response, which nobody stored': {
      body: { model: 'sandbox/echo', previous_response_id: 'resp_1' },
      path: 'previous_response_id',
    },
    'a previous response in a chat body': {
      body: { model: 'sandbox/echo', previous_response_id: 'resp_1' },
      shape: 'chat/completions',
      path: 'previous_response_id',
    },
    'a previous response in a Messages body': {
      body: { model: 'sandbox/echo', max_tokens: 5, previous_response_id: 'resp_1' },
      shape: 'messages',
      path: 'previous_response_id',
    },
    'a body that is an array': { body: [] },
    'a body that is null': { body: 'null' },
    'a body that is not JSON': { body: '{"model":' },
    'an empty body': { body: '' },
    'a body with something behind it': { body: '{} {}' },
  }
  for (const [what, { body, shape = 'responses', path }] of Object.entries(invalid)) {
    test(`400: ${what}`, async () => {
      const answer = await call(service, 'POST', `/presets/refused/${shape}`, { body })
      expect(answer.status).toBe(400)
      expect(answer.error).toMatchObject({ code: 400, message: 'Invalid request parameters' })
      expect(JSON.stringify(answer.error.metadata)).toContain(path ?? '')
      expect(answer.error.metadata['reason']).toEqual(expect.stringMatching(/./))
      expect((await call(service, 'GET', '/presets/refused')).status).toBe(404)
    })
  }

  test('200: a previous response of null counts as absent', async () => {
    expect((await savePreset(service, 'no-previous', { model: 'sandbox/echo', previous_response_id: null })).status).toBe(200)
  })

  for (const shape of ['responses', 'messages', 'chat/completions']) {
    test(`401: ${shape} without a key`, async () => {
      const answer = await call(service, 'POST', `/presets/refused/${shape}`, { key: null, body: {} })
      expect(answer.status).toBe(401)
      expect(answer.error).toMatchObject({ code: 401, message: 'Missing Authentication header' })
    })

    test(`401: ${shape} with an unknown key says something else`, async () => {
      const answer = await call(service, 'POST', `/presets/refused/${shape}`, { key: `pb_mgmt_${'x'.repeat(43)}`, body: {} })
      expect(answer.status).toBe(401)
      expect(answer.error.code).toBe(401)
      expect(answer.error.message).not.toBe('Missing Authentication header')
      expect(answer.error.message).toMatch(/./)
    })

    test(`403: ${shape} with an inference key`, async () => {
      const answer = await call(service, 'POST', `/presets/refused/${shape}`, { key: service.inferenceKey, body: {} })
      expect(answer.status).toBe(403)
      expect(answer.error).toMatchObject({ code: 403, message: 'Only management keys can perform this operation' })
    })
  }

  test('401: the key is checked before the body', async () => {
    expect((await call(service, 'POST', '/presets/refused/responses', { key: null, body: 'not json' })).status).toBe(401)
    expect((await call(service, 'POST', '/presets/refused/responses', { key: service.inferenceKey, body: 'not json' })).status).toBe(403)
  })

  for (const path of ['', '/versions', '/versions/1']) {
    test(`403: reading presets${path} with an inference key`, async () => {
      const answer = await call(service, 'GET', `/presets/x${path}`, { key: service.inferenceKey })
      expect(answer.error).toMatchObject({ code: 403, message: 'Only management keys can perform this operation' })
    })

    test(`404: a preset that is not there${path}`, async () => {
      const answer = await call(service, 'GET', `/presets/never-made${path}`)
      expect(answer.status).toBe(404)
      expect(answer.error).toMatchObject({ code: 404, message: 'Resource not found' })
    })
  }

  test('404: a version that is not there, with a reason that says whether its preset is', async () => {
    await savePreset(service, 'one-version', { model: 'sandbox/echo' })
    const errorOf = async (path: string) => (await call(service, 'GET', path)).error
    expect(await errorOf('/presets/one-version/versions/2')).toMatchObject({
      code: 404,
      message: 'Resource not found',
      metadata: { reason: expect.stringMatching(/^The preset "one-version" has no version 2\. /) },
    })
    expect(await errorOf('/presets/no-version/versions/2')).toMatchObject({
      code: 404,
      metadata: { reason: expect.stringMatching(/^There is no preset "no-version" in this workspace\. /) },
    })
  })

  for (const version of ['0', '-1', '1.5', 'one', '99999999999999999999']) {
    test(`400: version ${version}`, async () => {
      const answer = await call(service, 'GET', `/presets/x/versions/${version}`)
      expect(answer.error).toMatchObject({ code: 400, message: 'Invalid request parameters' })
    })
  }

  test('404: an unknown path answers in the same shape', async () => {
    const answer = await call(service, 'GET', '/presets/a/b/c/d')
    expect(answer.status).toBe(404)
    expect(answer.error).toMatchObject({ code: 404, message: 'Resource not found' })
  })

  test('405: a wrong method, with what is allowed', async () => {
    const answer = await call(service, 'PUT', '/presets/x', { body: {} })
    expect(answer.status).toBe(405)
    expect(answer.error.code).toBe(405)
    // RFC 9110, 15.5.6: a 405 must carry Allow.
    expect(answer.headers.get('allow')?.split(', ').toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'PATCH'])
  })

  test('413: a body over the limit', async () => {
    const answer = await savePreset(service, 'refused', { model: 'sandbox/echo', instructions: 'x'.repeat(70_000) })
    expect(answer.status).toBe(413)
    expect(answer.error.code).toBe(413)
  })

  test('413: a body over the limit that does not announce its length', async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let piece = 0; piece < 10; piece += 1) controller.enqueue(new Uint8Array(10_000).fill(32))
        controller.close()
      },
    })
    const response = await fetch(`${service.api}/presets/refused/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.managementKey}`, 'content-type': 'application/json' },
      body,
    })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({
      error: { code: 413, metadata: { error_type: 'payload_too_large' } },
    })
  })

  test('413: a body far over the limit still gets its answer', async () => {
    const answer = await savePreset(service, 'refused', { model: 'sandbox/echo', instructions: 'x'.repeat(4_000_000) })
    expect(answer.status).toBe(413)
    expect(answer.error.code).toBe(413)
  })

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1']) {
    test(`400: ${type}`, async () => {
      const answer = await call(service, 'POST', '/presets/refused/responses', { body: '{}', headers: { 'content-type': type } })
      expect(answer.status).toBe(400)
      expect(answer.error).toMatchObject({ code: 400, message: 'Invalid request parameters', metadata: { error_type: 'invalid_request' } })
    })
  }

  test('400: a compressed body', async () => {
    const answer = await call(service, 'POST', '/presets/refused/responses', { body: '{}', headers: { 'content-encoding': 'gzip' } })
    expect(answer.status).toBe(400)
  })

  test('after all these refusals, nothing is stored', async () => {
    expect((await call(service, 'GET', '/presets/refused')).status).toBe(404)
  })
})
