import { describe, expect, test } from 'bun:test'

import { z } from 'zod'

import { bodyOf, refusedPaths } from '../refusal.test-kit.ts'
import { validateRequest } from '../validate-request.ts'
import { presetBodySchema, presetContentOf } from './preset-config.ts'
import { REQUEST_FIELDS } from '../../request-fields/request-fields.ts'
import { requestSchema, rules } from './schema.ts'
import { CHAT_TOOLS } from '../../request-fields/schemas/chat-tools.ts'

const contentOf = (body: unknown) => presetContentOf(body).content
const pathsOf = (body: unknown) => refusedPaths(() => presetContentOf(body))

describe('system text', () => {
  test('the leading system and developer messages, joined by a blank line; later ones are conversation', () => {
    const messages = [
      { role: 'system', content: 'a' },
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c' },
        ],
      },
      { role: 'user', content: 'hello' },
      { role: 'system', content: 'not me' },
    ]
    expect(contentOf({ model: 'x/y', messages })).toEqual({ shape: 'chat', config: { model: 'x/y' }, systemPrompt: 'a\n\nb\n\nc' })
  })

  test('parts that carry more than text are kept as blocks, beside the joined text', () => {
    const part = { type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } }
    const messages = [
      { role: 'system', content: 'a' },
      { role: 'system', content: [part] },
    ]
    expect(contentOf({ messages })).toEqual({
      shape: 'chat',
      config: { system: [{ type: 'text', text: 'a' }, part] },
      systemPrompt: 'a\n\nb',
    })
  })

  test('no leading system message is null; an empty one is empty', () => {
    for (const messages of [undefined, null, 'garbage', 7, [], [null], [{ role: 'user', content: 'u' }], [[{ role: 'system' }]]]) {
      expect(contentOf({ messages }).systemPrompt).toBeNull()
    }
    expect(contentOf({ messages: [{ role: 'system', content: '' }] }).systemPrompt).toBe('')
  })

  test('400: a leading system message that is not text, by path; the rest of the conversation is not looked at', () => {
    expect(
      pathsOf({
        messages: [
          { role: 'system', content: 'a' },
          { role: 'system', content: 7 },
        ],
      }),
    ).toEqual(['messages[1].content'])
    expect(pathsOf({ messages: [{ role: 'system' }] })).toEqual(['messages[0].content'])
    expect(pathsOf({ messages: [{ role: 'system', content: [{ type: 'text' }] }] })).toEqual(['messages[0].content[0].text'])
    expect(pathsOf({ messages: [{ role: 'system', content: 'a' }, { role: 'martian' }, 7] })).toEqual([])
  })

  test('400: more than a megabyte in all', () => {
    const half = { role: 'system', content: 'x'.repeat(512 * 1024) }
    expect(pathsOf({ messages: [half, half] })).toEqual(['messages[0].content'])
  })
})

describe('fields', () => {
  test('the ones that only chat has are kept', () => {
    const sent = {
      top_a: 0.5,
      min_p: 0,
      repetition_penalty: 2,
      seed: 7,
      logit_bias: { '50256': -100 },
      logprobs: true,
      stop: ['a', 'b', 'c', 'd'],
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {}, strict: true } },
      structured_outputs: true,
      verbosity: 'max',
      prediction: { type: 'content', content: 'x' },
      reasoning: { effort: 'high', exclude: true },
      reasoning_effort: 'high',
      include_reasoning: false,
      max_tokens: 1,
      max_completion_tokens: 1,
      max_tool_calls: 30,
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: 'mp3' },
      web_search_options: { search_context_size: 'low' },
    }
    expect(contentOf(sent).config).toEqual(sent)
  })

  test.each<[object, string]>([
    [{ reasoning_effort: 'low', reasoning: { effort: 'high' } }, 'reasoning_effort'],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    [{ logit_bias: { a: 101 } }, 'logit_bias.a'],
    [{ seed: 1.5 }, 'seed'],
    [{ seed: 2 ** 60 }, 'seed'],
    [{ max_tool_calls: 31 }, 'max_tool_calls'],
    [{ response_format: { type: 'json_schema', json_schema: {} } }, 'response_format.json_schema.name'],
    [{ response_format: { type: 'json_schema', json_schema: { name: 'x'.repeat(65) } } }, 'response_format.json_schema.name'],
    [{ tool_choice: { type: 'function' } }, 'tool_choice.type'],
    [{ modalities: ['video'] }, 'modalities[0]'],
  ])('400: %p', (body, path) => {
    expect(pathsOf(body)).toEqual([path])
  })

  test('both efforts may be given where they agree or one is null', () => {
    expect(pathsOf({ reasoning_effort: 'low', reasoning: { effort: 'low' } })).toEqual([])
    expect(pathsOf({ reasoning_effort: 'low', reasoning: { effort: null } })).toEqual([])
  })

  test('the same contradiction is refused at inference', () => {
    const body = bodyOf({ reasoning_effort: 'low', reasoning: { effort: 'high' } })
    expect(refusedPaths(() => validateRequest(rules, body))).toEqual(['reasoning_effort'])
  })

  test.each(['none', 'auto', 'required', { type: 'function', function: { name: 'f' } }, { type: 'openrouter:web_search' }])(
    'tool_choice %p is taken',
    (tool_choice) => {
      expect(pathsOf({ tool_choice })).toEqual([])
    },
  )
})

describe('tools', () => {
  const shapes: object[] = [
    { type: 'function', function: { name: 'x'.repeat(64) }, cache_control: { type: 'ephemeral' } },
    { type: 'custom', custom: { name: 'patch', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } } } },
    ...['advisor', 'bash', 'datetime', 'files', 'fusion', 'image_generation', 'experimental__search_models', 'subagent', 'web_fetch'].map(
      (name) => ({ type: `service:${name}` }),
    ),
    { type: 'openrouter:web_search', parameters: { max_results: 2 } },
    { type: 'web_search', engine: 'exa' },
  ]

  test('there are 13 shapes, and every one is accepted and kept', () => {
    expect(CHAT_TOOLS).toHaveLength(13)
    expect(shapes).toHaveLength(13)
    expect(presetContentOf({ tools: shapes })).toMatchObject({ content: { config: { tools: shapes } }, warnings: [] })
  })

  test('400: a wrong function name is reported with its path', () => {
    const named = (name: unknown) => ({ type: 'function', function: { name } })
    expect(pathsOf({ tools: [named('a'), named('b'), named(7), named('x'.repeat(65)), named('')] })).toEqual([
      'tools[2].function.name',
      'tools[4].function.name',
    ])
  })
})

test.each([
  ['a request', requestSchema],
  ['a preset body', presetBodySchema],
])('OpenAPI: the schema of %s is representable, and every field is in it', (_, schema) => {
  const { $defs = {} } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' })
  const properties = $defs[schema.meta()?.id ?? '']?.properties ?? {}
  expect(Object.entries(REQUEST_FIELDS.chat).filter(([name, { schema }]) => schema !== undefined && !(name in properties))).toEqual([])
})

describe('OpenAPI: messages, as they are described', () => {
  test.each<[unknown, boolean]>([
    [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x' } }] }, true],
    [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] }, true],
    [{ role: 'tool', content: 'x' }, false],
    [{ role: 'martian', content: 'x' }, false],
  ])('%p: %p', (message, fits) => {
    expect(requestSchema.safeParse({ messages: [message] }).success).toBe(fits)
  })
})
