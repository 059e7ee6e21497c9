import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { FunctionTool, Message, Part, Prompt } from '../../canonical/prompt.ts'
import { GatewayError } from '../../errors.ts'
import type { JsonValue } from '../../lib/json/json.ts'
import { createWork } from '../../lib/work.ts'
import { toolTurn } from '../../../test/support/tool-turn.ts'
import { createCatalogueMemory } from './catalogue-memory.ts'
import { createCatalogue } from './catalogue.ts'
import { type DeferredConfig, type DeferredTools, deferTools } from './deferred-tools.ts'

const tool = (name: string, more: Partial<FunctionTool> = {}): FunctionTool => ({
  type: 'function',
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object', properties: { city: { type: 'string', minLength: 2 } }, required: ['city'] },
  deferred: true,
  ...more,
})
const LOADED: FunctionTool = { type: 'function', name: 'loaded', description: null, parameters: {} }
const TURN = toolTurn()
const CONFIG: DeferredConfig = { profile: 'portable', protocol: 'v1', validation: 'runtime', search: { type: 'bm25' } }

const prompt = (
  tools: Prompt['tools'],
  messages: readonly Message[] = [],
  toolChoice: Prompt['toolChoice'] = { type: 'auto' },
): Prompt => ({
  messages,
  tools,
  toolChoice,
  outputFormat: { type: 'text' },
  settings: {},
  otherFields: [],
})

interface Asked {
  readonly config?: Partial<DeferredConfig>
  readonly messages?: readonly Message[]
  readonly choice?: unknown
  readonly memory?: ReturnType<typeof createCatalogueMemory>
}

const deferAny = (
  tools: Prompt['tools'],
  { config, messages = [], choice, memory = createCatalogueMemory() }: Asked = {},
): DeferredTools | null => deferTools({ ...CONFIG, ...config }, prompt(tools, messages), choice, { workspaceId: 'ws', memory })

const defer = (tools: Prompt['tools'], asked: Asked = {}): DeferredTools => {
  const deferred = deferAny(tools, asked)
  if (deferred === null) throw new Error('Nothing is deferred.')
  return deferred
}

const names = ({ tools }: Pick<Prompt, 'tools'>): string[] => tools.flatMap((one) => (one.type === 'provider' ? [] : [one.name]))

const faultOf = (make: () => unknown): GatewayError => {
  try {
    make()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
  }
  throw new Error('Nothing was refused.')
}

describe('what the model is shown', () => {
  const tools = [tool('weather'), LOADED, tool('trains')]

  test('the tools that are not withheld, then the two wrappers, whose text is the same whatever is withheld', () => {
    const shown = defer(tools).promptOf(prompt(tools))
    expect(names(shown)).toEqual(['loaded', 'service_search_tools', 'service_call_tool'])
    const other = [tool('another'), LOADED]
    expect(defer(other).promptOf(prompt(other)).tools).toEqual(shown.tools)
  })

  test('no wrapper where the model may call nothing, and no search where a function of the client searches', () => {
    expect(names(defer(tools, { choice: 'none' }).promptOf(prompt(tools, [], { type: 'none' })))).toEqual(['loaded'])
    const custom = { search: { type: 'custom', tool_id: 'loaded', result_key: 'names' } } as const
    expect(names(defer(tools, { config: custom }).promptOf(prompt(tools)))).toEqual(['loaded', 'service_call_tool'])
  })

  test('universal: every function is withheld from the number on that is asked for, and none below it', () => {
    const universal = { profile: 'universal', min_deferred_tools: 3 } as const
    expect(names(defer(tools, { config: universal }).promptOf(prompt(tools)))).toEqual(['service_search_tools', 'service_call_tool'])
    expect(deferAny(tools.slice(1), { config: universal })).toBeNull()
  })
})

describe('400', () => {
  const withheld = [tool('weather'), LOADED]
  test.each<[string, Prompt['tools'], Asked, string]>([
    ['nothing is marked', [LOADED], {}, 'deferred_tools'],
    ['code mode', withheld, { config: { interface: 'code_mode' } }, 'deferred_tools.interface'],
    ['a choice that demands a call', withheld, { choice: 'required' }, 'tool_choice'],
    ['a choice among some', withheld, { choice: { type: 'allowed_tools' } }, 'tool_choice'],
    ['a name of a wrapper', [...withheld, { ...LOADED, name: 'service_call_tool' }], {}, 'tools'],
    ['a name twice', [tool('weather'), tool('weather')], {}, 'tools'],
    ['a name that is too long', [tool('x'.repeat(257))], {}, 'tools'],
    ['too many', Array.from({ length: 10_001 }, (_, index) => tool(`t${index}`)), {}, 'tools'],
    ['too much', [tool('big', { description: 'x'.repeat(4 * 1024 * 1024) })], {}, 'tools'],
    ['too many bytes in fewer characters', [tool('big', { description: 'é'.repeat(2 * 1024 * 1024) })], {}, 'tools'],
    [
      'a search that is not there',
      withheld,
      { config: { search: { type: 'custom', tool_id: 'x', result_key: 'k' } } },
      'deferred_tools.search.tool_id',
    ],
    [
      'a search that is withheld',
      withheld,
      { config: { search: { type: 'custom', tool_id: 'weather', result_key: 'k' } } },
      'deferred_tools.search.tool_id',
    ],
  ])('%s', (_, tools, asked, path) => {
    const { type, metadata } = faultOf(() => deferAny(tools, asked))
    expect({ type, paths: (metadata['issues'] as { path: string }[]).map((issue) => issue.path) }).toEqual({
      type: 'invalid_request',
      paths: [path],
    })
  })
})

describe('a search', () => {
  const run = async (tools: Prompt['tools'], input: Readonly<Record<string, JsonValue>>, config: Partial<DeferredConfig> = {}) =>
    (await defer(tools, { config }).search?.run(input, TURN))?.value

  test('answers with whole definitions, so that the model can call at once', async () => {
    const found = await run([tool('get_weather'), tool('book_train')], { query: 'weather' })
    const { name, description, parameters } = tool('get_weather')
    expect(found).toEqual({ tools: [{ name, description, parameters: parameters as JsonValue }], total: 1 })
  })

  test('gives as many as the client allows, or fewer where the model asks for fewer', async () => {
    const many = Array.from({ length: 60 }, (_, index) => tool(`find_${index}`))
    const count = async (input: Readonly<Record<string, JsonValue>>, most?: number): Promise<unknown> => {
      const found = await run(many, { query: 'find', ...input }, { search: { type: 'bm25', max_results: most } })
      const listed = found?.['tools']
      return [Array.isArray(listed) ? listed.length : null, found?.['total']]
    }
    expect(await count({})).toEqual([5, 60])
    expect(await count({ max_results: 2 })).toEqual([2, 60])
    expect(await count({ max_results: 99 }, 50)).toEqual([50, 60])
    expect(await count({ max_results: -1 })).toEqual([1, 60])
  })

  test('that finds nothing names tools that begin alike', async () => {
    expect(await run([tool('github_pulls'), tool('mail')], { query: 'git' })).toEqual({ tools: [], total: 0, names: ['github_pulls'] })
  })

  test.each<[DeferredConfig['search'], Readonly<Record<string, JsonValue>>, string]>([
    [{ type: 'bm25' }, {}, 'invalid_tool_input'],
    [{ type: 'bm25' }, { query: 'x'.repeat(501) }, 'query_too_long'],
    [{ type: 'regex' }, { pattern: '[' }, 'invalid_tool_input'],
    [{ type: 'regex' }, { pattern: '(?=x)' }, 'invalid_tool_input'],
    [{ type: 'regex' }, { pattern: 'x'.repeat(201) }, 'invalid_tool_input'],
    [{ type: 'regex' }, { query: 'x' }, 'invalid_tool_input'],
  ])('%j %j is reported as a result: %s', async (search, input, error) => {
    expect((await run([tool('a')], input, { search }))?.['error']).toBe(error)
  })
})

describe('a call', () => {
  const { unwrap } = defer([tool('github_pulls_list'), tool('loose', { parameters: { pattern: 7, $ref: 'https://x' } })])

  test.each([
    ['an object', '{"name":"github_pulls_list","arguments":{"city":"Oslo","id":12345678901234567890}}'],
    ['a text that is JSON', JSON.stringify({ name: 'github_pulls_list', arguments: '{"city":"Oslo","id":12345678901234567890}' })],
  ])('whose arguments are %s reaches the client as the model wrote it', (_, json) => {
    expect(unwrap(json)).toEqual({ name: 'github_pulls_list', arguments: '{"city":"Oslo","id":12345678901234567890}', unchecked: [] })
  })

  test('that is missing its arguments has none', () => {
    expect(unwrap('{"name":"loose"}')).toEqual({ name: 'loose', arguments: '{}', unchecked: ['$ref https://x'] })
  })

  test('of an unknown tool names the nearest', () => {
    expect(unwrap('{"name":"github_pull_list","arguments":{}}')).toMatchObject({
      name: 'github_pull_list',
      refusal: { fault: { code: 'unknown_tool' }, value: { nearest: ['github_pulls_list'] } },
    })
  })

  test('whose arguments miss the schema tells the model where', () => {
    expect(unwrap('{"name":"github_pulls_list","arguments":{"city":"x"}}')).toMatchObject({
      refusal: {
        fault: { code: 'invalid_tool_input' },
        value: { issues: [{ path: '$.city', message: 'must have at least 2 characters' }] },
      },
    })
  })

  test.each([
    '',
    '[]',
    '{',
    '{"arguments":{}}',
    '{"name":7}',
    '{"name":"github_pulls_list","arguments":"{"}',
    '{"name":"loose","arguments":[]}',
  ])('of the form %j is reported as a result', (json) => {
    expect(unwrap(json)).toMatchObject({ refusal: { fault: { code: 'invalid_tool_input' } } })
  })

  test('tells five faults at most', () => {
    const required = Array.from({ length: 50 }, (_, index) => `k${index}`)
    const call = defer([tool('strict', { parameters: { type: 'object', required } })]).unwrap('{"name":"strict"}')
    expect('refusal' in call && (call.refusal.value['issues'] as unknown[]).length).toBe(5)
  })
})

describe('a conversation that comes back', () => {
  const CITY = [tool('get_weather'), tool('book_train')]
  const call = (id: string, name: string, json: string, more: object = {}): Part => ({
    type: 'tool-call',
    id,
    name,
    arguments: json,
    ...more,
  })
  const result = (callId: string, text: string): Part => ({ type: 'tool-result', callId, text })
  const turns = (catalog: string): readonly Message[] => [
    { role: 'user', parts: [{ type: 'text', text: 'Weather in Oslo?' }] },
    { role: 'assistant', parts: [call('c1', 'service_search_tools', '{ "query": "weather" }', { catalog })] },
    { role: 'user', parts: [result('c1', 'cut short…')] },
    { role: 'assistant', parts: [call('c2', 'get_weather', '{"city":"Oslo"}')] },
    { role: 'user', parts: [result('c2', 'Rain')] },
  ]

  test('has each call in the wrapper again, and each search with its whole result', async () => {
    const messages = turns(createCatalogue(CITY).hash)
    const deferred = defer(CITY, { messages })
    const seen = deferred.promptOf(prompt(CITY, messages)).messages
    const searched = await deferred.search?.run({ query: 'weather' }, TURN)
    expect(seen[1]?.parts[0]).toMatchObject({ name: 'service_search_tools', arguments: '{"query":"weather"}' })
    expect(seen[2]?.parts).toEqual([result('c1', JSON.stringify(searched?.value))])
    expect(seen[3]?.parts).toEqual([call('c2', 'service_call_tool', '{"name":"get_weather","arguments":{"city":"Oslo"}}')])
    expect(seen[4]).toBe(messages[4] as Message)
  })

  test('with another catalogue is refused with what changed, and accepted where the profile is universal', () => {
    const memory = createCatalogueMemory()
    const { hash } = defer(CITY, { memory }).catalogue
    const now = [tool('get_weather', { description: 'Other words.' }), tool('mail')]
    const messages = turns(hash)
    const { type, metadata } = faultOf(() => defer(now, { memory, messages }))
    expect({ type, metadata }).toEqual({
      type: 'invalid_request',
      metadata: { expected: hash, actual: createCatalogue(now).hash, added: ['mail'], removed: ['book_train'], changed: ['get_weather'] },
    })
    const seen = defer(now, { memory, messages, config: { profile: 'universal' } }).promptOf(prompt(now, messages)).messages
    expect(seen[3]?.parts[0]).toMatchObject({ name: 'service_call_tool' })
  })

  test('with the same tools in another order has not changed', () => {
    const memory = createCatalogueMemory()
    const { hash } = defer(CITY, { memory }).catalogue
    const reordered = CITY.toReversed().map((one) => ({
      ...one,
      parameters: { required: ['city'], properties: { city: { minLength: 2, type: 'string' } }, type: 'object' },
    }))
    expect(defer(reordered, { memory, messages: turns(hash) }).catalogue.hash).toBe(hash)
  })

  test('what a search of the client names is explained to the model; names that are unknown are not', () => {
    const config = { search: { type: 'custom', tool_id: 'loaded', result_key: 'names' } } as const
    const tools = [...CITY, LOADED]
    const text = JSON.stringify({ names: ['book_train', { name: 'get_weather' }, 'nothing', 'book_train', 7] })
    const messages: Message[] = [
      { role: 'assistant', parts: [call('c1', 'loaded', '{}')] },
      { role: 'user', parts: [result('c1', text)] },
    ]
    const [, seen] = defer(tools, { config }).promptOf(prompt(tools, messages)).messages
    const [part] = seen?.parts ?? []
    const [first, second] = part?.type === 'tool-result' ? part.text.split('\n') : []
    expect(first).toBe(text)
    expect((JSON.parse(second ?? '') as { tools: { name: string }[] }).tools.map(({ name }) => name)).toEqual(['book_train', 'get_weather'])
  })
})

test('property: a call that reaches the client goes back to the model as a call of the wrapper with the same arguments', () => {
  const name = fc.stringMatching(/^[a-zA-Z0-9_.-]{1,20}$/)
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), fc.nat(), (all, given, pick) => {
      const tools = all.map((one) => tool(one, { parameters: {} }))
      const called = all[pick % all.length] as string
      const deferred = defer(tools)
      const json = JSON.stringify({ name: called, arguments: given })
      const read = deferred.unwrap(json)
      if ('refusal' in read) {
        expect(JSON.stringify(read.refusal.value)).toContain('invalid_tool_input')
        return
      }
      const back = deferred.promptOf(
        prompt(tools, [{ role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name: read.name, arguments: read.arguments }] }]),
      )
      const [part] = back.messages[0]?.parts ?? []
      expect(deferred.unwrap(part?.type === 'tool-call' ? part.arguments : '')).toEqual(read)
    }),
  )
})

test('property: whatever a model writes as a call or a search is answered, and a search that comes back is the same', async () => {
  const tools = [tool('get_weather'), tool('book_train', { parameters: { anyOf: [{ required: ['a'] }, { pattern: '[' }] } })]
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom('{"name":"book_train","arguments":{}}', '{"name":"__proto__","arguments":{}}'),
  )
  await fc.assert(
    fc.asyncProperty(text, fc.dictionary(fc.constantFrom('query', 'max_results', 'x'), fc.jsonValue()), async (json, input) => {
      const deferred = defer(tools)
      const read = deferred.unwrap(json)
      if (!('refusal' in read)) expect(tools.map((one) => one.name)).toContain(read.name)
      expect(await deferred.search?.run(input as never, TURN)).toEqual((await deferred.search?.run(input as never, TURN)) as never)
    }),
  )
})

describe('memory of catalogues', () => {
  const catalogueOf = (name: string) => createCatalogue([tool(name, { description: name.repeat(1000) })])
  const known = (memory: ReturnType<typeof createCatalogueMemory>, all: readonly ReturnType<typeof catalogueOf>[]) =>
    all.map(({ hash }) => memory.digestsOf('ws', hash) !== null)

  test('the index of a catalogue is made once', () => {
    const memory = createCatalogueMemory()
    const search = memory.searchOf('ws', catalogueOf('a'))()
    expect(memory.searchOf('ws', catalogueOf('a'))()).toBe(search)
    expect(memory.searchOf('other', catalogueOf('a'))()).not.toBe(search)
  })

  test('what was used last stays, within the bound; one that is larger than the bound is used and not kept', () => {
    const all = ['a', 'b', 'c'].map(catalogueOf)
    const [a, b, c] = all as [ReturnType<typeof catalogueOf>, ReturnType<typeof catalogueOf>, ReturnType<typeof catalogueOf>]
    const memory = createCatalogueMemory(a.size * 8 * 2)
    for (const one of [a, b, a, c]) memory.searchOf('ws', one)
    expect(known(memory, all)).toEqual([true, false, true])
    const small = createCatalogueMemory(1)
    expect(small.searchOf('ws', a)().byWords('a', 1, createWork(1000))).toHaveLength(1)
    expect(known(small, [a])).toEqual([false])
  })
})

test('ten thousand tools are searched by the last of them', async () => {
  const many = Array.from({ length: 10_000 }, (_, index) =>
    tool(`service${index}_get_item`, { description: `Gets the item ${index} of the list.` }),
  )
  const found = await defer(many).search?.run({ query: 'item 9999' }, TURN)
  expect(found?.value).toMatchObject({ tools: [{ name: 'service9999_get_item' }, {}, {}, {}, {}] })
})

describe('what others have to wait for is bounded', () => {
  const mixed = Array.from({ length: 40_000 }, (_, at) => (((at * 2654435761) >>> 13) % 2 === 0 ? 'a' : 'b')).join('')
  const config = { search: { type: 'regex' } } as const
  const searched = (id: string, pattern: string): Message[] => [
    { role: 'assistant', parts: [{ type: 'tool-call', id, name: 'service_search_tools', arguments: JSON.stringify({ pattern }) }] },
    { role: 'user', parts: [{ type: 'tool-result', callId: id, text: 'as it was shown' }] },
  ]

  test('a pattern that takes too long is a result that says so', async () => {
    const deferred = defer([tool('a', { description: mixed })], { config })
    const result = await deferred.search?.run({ pattern: 'a[ab]{900}c' }, TURN)
    expect(result).toMatchObject({ fault: { code: 'invalid_tool_input', message: 'The search takes too long; use a simpler pattern.' } })
  })

  test('a conversation full of slow searches costs no more than a few of them, and the rest is told as it was shown', () => {
    const tools = [tool('a', { description: mixed })]
    const messages = Array.from({ length: 400 }, (_, index) => searched(`c${index}`, `a[ab]{900}c${index}`)).flat()
    const deferred = defer(tools, { config, messages })
    const begun = performance.now()
    for (let turn = 0; turn < 10; turn += 1) {
      const texts = deferred
        .promptOf(prompt(tools, messages))
        .messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.text] : [])))
      expect(texts[0]).toContain('takes too long')
      expect(texts.at(-1)).toBe('as it was shown')
    }
    expect(performance.now() - begun).toBeLessThan(10_000)
  })

  test('a tool that is too large to show is named, now and when the conversation comes back', async () => {
    const tools = [tool('huge', { description: 'x'.repeat(300_000) })]
    const messages = searched('c', 'huge')
    const deferred = defer(tools, { config, messages })
    const result = await deferred.search?.run({ pattern: 'huge' }, TURN)
    expect(result?.value).toEqual({ tools: [{ name: 'huge' }], total: 1 })
    expect(JSON.stringify(deferred.promptOf(prompt(tools, messages)).messages)).toContain(String.raw`{\"tools\":[{\"name\":\"huge\"}]`)
  })
})
