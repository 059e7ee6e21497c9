/** `@openrouter/sdk`, unmodified: each answer passes its strict schemas, each error is thrown as its class. */
import { OpenRouter } from '@openrouter/sdk'
import type { ChatRequest, ChatResult, ChatStreamChunk } from '@openrouter/sdk/models'
import {
  BadRequestResponseError,
  ForbiddenResponseError,
  NotFoundResponseError,
  TooManyRequestsResponseError,
  UnauthorizedResponseError,
} from '@openrouter/sdk/models/errors'
import { beforeAll, describe, expect, test } from 'bun:test'

import { call } from '../support/calls.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
let service: StartedService
let manager: OpenRouter
let caller: OpenRouter

const client = (apiKey: string): OpenRouter => new OpenRouter({ apiKey, serverURL: service.api, retryConfig: { strategy: 'none' } })

beforeAll(async () => {
  service = await services.start()
  manager = client(service.managementKey)
  caller = client(service.inferenceKey)
})

const user = { role: 'user', content: 'Hello there!' } as const

type ChatBody = Omit<ChatRequest, 'stream'>
type Options = Parameters<OpenRouter['chat']['send']>[1]
const whole = async (body: ChatBody, options?: Options): Promise<ChatResult> =>
  (await caller.chat.send({ chatRequest: { ...body, stream: false } }, options)) as ChatResult
const streamed = async (body: ChatBody, options?: Options): Promise<AsyncIterable<ChatStreamChunk>> =>
  (await caller.chat.send({ chatRequest: { ...body, stream: true } }, options)) as AsyncIterable<ChatStreamChunk>

describe('presets', () => {
  test('createPresetsResponses', async () => {
    const { data } = await manager.presets.createPresetsResponses({
      slug: 'sdk-responses',
      responsesRequest: { model: 'sandbox/echo', input: 'Hi', instructions: 'Be kind.', temperature: 0.5 },
    })
    expect(data).toMatchObject({ slug: 'sdk-responses', status: 'active', description: null })
    expect(data.designatedVersion).toMatchObject({ version: 1, systemPrompt: 'Be kind.' })
    expect(data.designatedVersion?.config).toMatchObject({ model: 'sandbox/echo', temperature: 0.5 })
  })

  test('createPresetsMessages', async () => {
    const { data } = await manager.presets.createPresetsMessages({
      slug: 'sdk-messages',
      messagesRequest: { model: 'sandbox/echo', maxTokens: 1024, system: 'Be brief.', messages: [user] },
    })
    expect(data.designatedVersion).toMatchObject({ version: 1, systemPrompt: 'Be brief.' })
    expect(data.designatedVersion?.config).toEqual({ model: 'sandbox/echo', max_tokens: 1024 })
  })

  test('createPresetsChatCompletions, twice', async () => {
    const request = { slug: 'sdk-chat', chatRequest: { model: 'sandbox/echo', messages: [user] } }
    const first = await manager.presets.createPresetsChatCompletions(request)
    expect(first.data.designatedVersion).toMatchObject({ version: 1, systemPrompt: null })
    const second = await manager.presets.createPresetsChatCompletions(request)
    expect(second.data.id).toBe(first.data.id)
    expect(second.data.designatedVersion?.version).toBe(2)
    expect(second.data.designatedVersionId).toBe(second.data.designatedVersion?.id ?? '')
  })

  test('list: the paging iterator sees each preset once, and ends', async () => {
    for (const slug of ['page-1', 'page-2', 'page-3']) {
      await manager.presets.createPresetsChatCompletions({ slug, chatRequest: { model: 'sandbox/echo', messages: [user] } })
    }
    const slugs: string[] = []
    for await (const page of await manager.presets.list({ limit: 2 })) {
      expect(page.result.totalCount).toBe(6)
      slugs.push(...page.result.data.map(({ slug }) => slug))
    }
    expect(slugs.toSorted()).toEqual(['page-1', 'page-2', 'page-3', 'sdk-chat', 'sdk-messages', 'sdk-responses'])
  })

  test('list without parameters', async () => {
    const slugs: string[] = []
    for await (const page of await manager.presets.list()) slugs.push(...page.result.data.map(({ slug }) => slug))
    expect(slugs).toHaveLength(6)
  })

  test('get', async () => {
    const { data } = await manager.presets.get({ slug: 'sdk-chat' })
    expect(data).toMatchObject({ slug: 'sdk-chat', name: 'sdk-chat' })
    expect(data.designatedVersion?.version).toBe(2)
  })

  test('listVersions and getVersion', async () => {
    const numbers: number[] = []
    for await (const page of await manager.presets.listVersions({ slug: 'sdk-chat', limit: 1 })) {
      numbers.push(...page.result.data.map((version) => version?.version ?? 0))
    }
    expect(numbers).toEqual([1, 2])
    expect((await manager.presets.getVersion({ slug: 'sdk-chat', version: '1' })).data).toMatchObject({ version: 1 })
  })

  test('a disabled and an archived preset pass the schemas too', async () => {
    await call(service, 'PATCH', '/presets/page-1', { body: { status: 'disabled', description: 'Off.' } })
    await call(service, 'DELETE', '/presets/page-2')
    expect((await manager.presets.get({ slug: 'page-1' })).data).toMatchObject({ status: 'disabled', description: 'Off.' })
    expect((await manager.presets.get({ slug: 'page-2' })).data).toMatchObject({ status: 'archived' })
    for await (const page of await manager.presets.list()) expect(page.result.data.length).toBeGreaterThan(0)
  })

  test('BadRequestResponseError: a slug that is invalid', async () => {
    const refused = await thrownBy(manager.presets.get({ slug: 'a b' }))
    expect(refused).toBeInstanceOf(BadRequestResponseError)
    expect(refused).toMatchObject({ statusCode: 400, error: { code: 400, message: 'Invalid request parameters' } })
  })

  test('UnauthorizedResponseError: an unknown key', async () => {
    const refused = await thrownBy(client('pb_mgmt_unknown').presets.get({ slug: 'sdk-chat' }))
    expect(refused).toBeInstanceOf(UnauthorizedResponseError)
    expect(refused).toMatchObject({ error: { code: 401 } })
  })

  test('ForbiddenResponseError: an inference key', async () => {
    const chatRequest = { model: 'sandbox/echo', messages: [user] }
    const refused = await thrownBy(caller.presets.createPresetsChatCompletions({ slug: 'x', chatRequest }))
    expect(refused).toBeInstanceOf(ForbiddenResponseError)
    expect(refused).toMatchObject({ error: { code: 403, message: 'Only management keys can perform this operation' } })
  })

  test('NotFoundResponseError: no such preset', async () => {
    const refused = await thrownBy(manager.presets.get({ slug: 'never-made' }))
    expect(refused).toBeInstanceOf(NotFoundResponseError)
    expect(refused).toMatchObject({ error: { code: 404, message: 'Resource not found' } })
  })
})

describe('keys', () => {
  test('create, get, update, list, use, delete', async () => {
    const expiresAt = new Date('2099-01-31T00:00:00Z')
    const created = await manager.apiKeys.create({
      requestBody: { name: 'From the SDK', limit: 12.5, limitReset: 'monthly', includeByokInLimit: true, expiresAt },
    })
    expect(created.data).toMatchObject({
      name: 'From the SDK',
      limit: 12.5,
      limitReset: 'monthly',
      includeByokInLimit: true,
      disabled: false,
      usage: 0,
    })
    expect(created.data.expiresAt).toEqual(expiresAt)
    expect(created.data.hash).toMatch(/^[a-f0-9]{64}$/)
    expect(JSON.stringify(created.data)).not.toContain(created.key)

    const { hash } = created.data
    expect((await manager.apiKeys.get({ hash })).data).toMatchObject({ hash, name: 'From the SDK' })

    const own = (await client(created.key).apiKeys.getCurrentKeyMetadata()).data
    expect(own).toMatchObject({ limit: 12.5, limitRemaining: 12.5, limitReset: 'monthly', isManagementKey: false })

    const updated = await manager.apiKeys.update({ hash, requestBody: { name: 'Renamed', disabled: true, limit: null } })
    expect(updated.data).toMatchObject({ name: 'Renamed', disabled: true, limit: null })
    expect(await thrownBy(client(created.key).apiKeys.getCurrentKeyMetadata())).toBeInstanceOf(UnauthorizedResponseError)

    const hashes = async (includeDisabled: boolean): Promise<readonly string[]> =>
      (await manager.apiKeys.list(includeDisabled ? { includeDisabled: true } : {})).data.map((key) => key.hash)
    expect(await hashes(false)).not.toContain(hash)
    expect(await hashes(true)).toContain(hash)

    expect(await manager.apiKeys.delete({ hash })).toEqual({ deleted: true })
    expect(await thrownBy(manager.apiKeys.get({ hash }))).toBeInstanceOf(NotFoundResponseError)
  })

  test('getCurrentKeyMetadata of a management key', async () => {
    expect((await manager.apiKeys.getCurrentKeyMetadata()).data).toMatchObject({ isManagementKey: true, limit: null })
  })

  test('ForbiddenResponseError: an inference key manages no keys', async () => {
    expect(await thrownBy(caller.apiKeys.create({ requestBody: { name: 'x' } }))).toBeInstanceOf(ForbiddenResponseError)
  })

  test('BadRequestResponseError: a limit that is invalid', async () => {
    expect(await thrownBy(manager.apiKeys.create({ requestBody: { name: 'x', limit: -1 } }))).toBeInstanceOf(BadRequestResponseError)
  })
})

describe('chat', () => {
  test('send: a whole answer with its usage', async () => {
    const answer = await whole({ model: 'sandbox/echo', messages: [user] })
    expect(answer).toMatchObject({ object: 'chat.completion', model: 'sandbox/echo' })
    expect(answer.choices[0]).toMatchObject({ finishReason: 'stop', message: { role: 'assistant', content: 'Hello there!' } })
    expect(answer.usage).toMatchObject({ completionTokens: 2 })
  })

  test('send: a stream, each chunk with the same id, the usage in the last', async () => {
    const stream = await streamed({ model: 'sandbox/echo', messages: [user] })
    const ids = new Set<string>()
    let content = ''
    let finish: unknown = null
    let usage: unknown
    for await (const chunk of stream) {
      ids.add(chunk.id)
      content += chunk.choices[0]?.delta.content ?? ''
      finish = chunk.choices[0]?.finishReason ?? finish
      usage = chunk.usage
    }
    expect(content).toBe('Hello there!')
    expect(finish).toBe('stop')
    expect(ids.size).toBe(1)
    expect(usage).toMatchObject({ completionTokens: 2 })
  })

  for (const model of [
    'sandbox/reasoning',
    'sandbox/refusal',
    'sandbox/json',
    'sandbox/empty',
    'sandbox/flaky',
    'sandbox/tools',
    '@preset/sdk-chat',
  ]) {
    test(`send: ${model} passes the schemas, whole and as a stream`, async () => {
      const tools = [
        { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } } },
      ] as const
      const body: ChatBody = { model, messages: [user], ...(model === 'sandbox/tools' ? { tools: [...tools] } : {}) }
      const answer = await whole(body)
      expect(answer.choices).toHaveLength(1)
      const finishes: unknown[] = []
      for await (const chunk of await streamed(body)) {
        finishes.push(...chunk.choices.flatMap(({ finishReason }) => finishReason ?? []))
      }
      expect(finishes).toEqual([answer.choices[0]?.finishReason])
    })
  }

  test('send: an error in mid-stream is a chunk with its type', async () => {
    const stream = await streamed({ model: 'sandbox/midstream/provider_overloaded', messages: [user] })
    const chunks = await Array.fromAsync(stream)
    expect(chunks.at(-1)?.error).toMatchObject({ code: 503, metadata: { errorType: 'provider_overloaded' } })
    expect(chunks.at(-1)?.choices[0]?.finishReason).toBe('error')
  })

  test('send: with the routing metadata', async () => {
    const answer = await whole({ model: 'sandbox/echo', messages: [user] }, { headers: { 'X-OpenRouter-Metadata': 'enabled' } })
    expect(answer.openrouterMetadata).toMatchObject({ requested: 'sandbox/echo' })
  })

  const refusals = {
    BadRequestResponseError: { class: BadRequestResponseError, request: { model: 'sandbox/echo', messages: [user], temperature: 9 } },
    NotFoundResponseError: { class: NotFoundResponseError, request: { model: 'sandbox/never', messages: [user] } },
  }
  for (const [name, refusal] of Object.entries(refusals)) {
    test(`${name}: streaming or not`, async () => {
      for (const send of [whole, streamed]) expect(await thrownBy(send(refusal.request))).toBeInstanceOf(refusal.class)
    })
  }

  test('UnauthorizedResponseError and ForbiddenResponseError: the wrong key', async () => {
    const chatRequest: ChatRequest = { model: 'sandbox/echo', messages: [user], stream: false }
    expect(await thrownBy(client('nonsense').chat.send({ chatRequest }))).toBeInstanceOf(UnauthorizedResponseError)
    expect(await thrownBy(manager.chat.send({ chatRequest }))).toBeInstanceOf(ForbiddenResponseError)
  })

  test("TooManyRequestsResponseError: a provider's failure", async () => {
    const refused = await thrownBy(whole({ model: 'sandbox/error/rate_limit_exceeded', messages: [user] }))
    expect(refused).toBeInstanceOf(TooManyRequestsResponseError)
    expect(refused).toMatchObject({ error: { code: 429, metadata: { error_type: 'rate_limit_exceeded' } } })
  })
})

describe('what was done, and what there is', () => {
  test('generations.getGeneration: by the id of the answer', async () => {
    const answer = await whole({ model: 'sandbox/echo', messages: [user] })
    const { data } = await caller.generations.getGeneration({ id: answer.id })
    expect(data).toMatchObject({
      id: answer.id,
      model: 'sandbox/echo',
      finishReason: 'stop',
      streamed: false,
      tokensCompletion: 2,
      cancelled: false,
    })
  })

  test('NotFoundResponseError: an unknown generation', async () => {
    expect(await thrownBy(caller.generations.getGeneration({ id: 'gen-unknown' }))).toBeInstanceOf(NotFoundResponseError)
  })

  test('models.list: the sandbox models and the presets', async () => {
    const ids: string[] = []
    for await (const page of await caller.models.list()) ids.push(...page.result.data.map(({ id }) => id))
    expect(ids).toContain('sandbox/echo')
    expect(ids).toContain('@preset/sdk-chat')
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('models.list: in small pages it sees each model once, and ends', async () => {
    const ids: string[] = []
    for await (const page of await caller.models.list({ limit: 20 })) {
      ids.push(...page.result.data.map(({ id }) => id))
      if (ids.length > 5000) break
    }
    expect(ids).toContain('sandbox/echo')
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('models.count', async () => {
    expect((await caller.models.count()).data.count).toBeGreaterThan(5)
  })
})

const thrownBy = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    return { answered: await promise }
  } catch (thrown) {
    return thrown
  }
}
