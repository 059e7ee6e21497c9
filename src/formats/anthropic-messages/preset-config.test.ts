import { describe, expect, test } from 'bun:test'

import { z } from 'zod'

import { bodyOf, refusedPaths } from '../refusal.test-kit.ts'
import { validateRequest } from '../validate-request.ts'
import { presetBodySchema, presetContentOf } from './preset-config.ts'
import { REQUEST_FIELDS } from '../../request-fields/request-fields.ts'
import { requestSchema, rules } from './schema.ts'
import { THINKING } from '../../request-fields/schemas/messages-thinking.ts'
import { genericTool, MESSAGES_TYPED_TOOLS } from '../../request-fields/schemas/messages-tools.ts'

const configOf = (body: unknown) => presetContentOf(body).content.config
const pathsOf = (body: unknown) => refusedPaths(() => presetContentOf(body))

describe('what is kept', () => {
  test('the documented example: model and max_tokens in config, system as system prompt', () => {
    expect(
      presetContentOf({
        model: 'anthropic/claude-opus-5.5',
        max_tokens: 1024,
        system: 'You are a support agent.',
        messages: [{ role: 'user', content: 'hello' }],
        stream: true,
      }),
    ).toEqual({
      content: {
        shape: 'messages',
        config: { model: 'anthropic/claude-opus-5.5', max_tokens: 1024 },
        systemPrompt: 'You are a support agent.',
      },
      warnings: [],
    })
  })

  test('the fields that only messages have are kept under their own names', () => {
    const sent = {
      fallbacks: [{ model: 'a/b' }, { model: 'c/d' }, { model: 'e/f' }],
      speed: 'fast',
      thinking: { type: 'enabled', budget_tokens: 2048 },
      output_config: { effort: 'max', format: { type: 'json_schema', schema: {} }, task_budget: { type: 'tokens', total: 20_000 } },
      stop_sequences: ['END'],
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      safeguards: [{ type: 'cyber', classifier_context: { a: 1 } }],
      service_tier: 'standard_only',
    }
    expect(configOf(sent)).toEqual(sent)
  })

  test('metadata, user and the conversation are not', () => {
    expect(configOf({ metadata: { user_id: 7 }, user: 9, messages: 'garbage', stream: 'yes', session_id: [] })).toEqual({})
  })
})

describe('system text', () => {
  test('a string is the system prompt, and nothing more is kept', () => {
    expect(presetContentOf({ system: 'a' }).content).toEqual({ shape: 'messages', config: {}, systemPrompt: 'a' })
  })

  test('plain blocks are joined by a blank line', () => {
    const system = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', cache_control: null },
    ]
    expect(presetContentOf({ system }).content).toEqual({ shape: 'messages', config: {}, systemPrompt: 'a\n\nb' })
  })

  test('blocks that carry more than text are kept too, all of them', () => {
    const system = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', cache_control: { type: 'ephemeral' }, later: 1 },
    ]
    expect(presetContentOf({ system }).content).toEqual({ shape: 'messages', config: { system }, systemPrompt: 'a\n\nb' })
  })

  test('no system, null and no block at all are null; an empty string is empty', () => {
    for (const body of [{}, { system: null }, { system: [] }]) expect(presetContentOf(body).content.systemPrompt).toBeNull()
    expect(presetContentOf({ system: '' }).content.systemPrompt).toBe('')
  })

  test('400: a system that is neither, by path', () => {
    expect(pathsOf({ system: 7 })).toEqual(['system'])
    expect(pathsOf({ system: [{ type: 'text', text: 'a' }, { type: 'image' }] })).toContain('system[1].type')
    expect(pathsOf({ system: [{ type: 'text', text: 'a', cache_control: { type: 'eternal' } }] })).toEqual(['system[0].cache_control.type'])
    expect(pathsOf({ system: [{ type: 'text', text: 'x'.repeat(1024 * 1024 + 1) }] })).toEqual(['system'])
  })
})

describe('limits, at their edges', () => {
  test.each<[object, string]>([
    [{ fallbacks: Array.from({ length: 4 }, () => ({ model: 'a/b' })) }, 'fallbacks'],
    [{ fallbacks: [{ model: 'a/b', max_tokens: 5 }] }, 'fallbacks[0].max_tokens'],
    [{ fallbacks: [{ model: 'a/b' }], models: ['c/d'] }, 'fallbacks'],
    [{ speed: 'slow' }, 'speed'],
    [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
    [{ output_config: { task_budget: { type: 'tokens', total: 19_999 } } }, 'output_config.task_budget.total'],
    [{ tool_choice: { type: 'tool' } }, 'tool_choice.name'],
    [{ tool_choice: 'auto' }, 'tool_choice'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ stop_sequences: 'END' }, 'stop_sequences'],
  ])('400: %p', (body, path) => {
    expect(pathsOf(body)).toEqual([path])
  })

  test('fallbacks may be null beside models', () => {
    expect(pathsOf({ fallbacks: null, models: ['c/d'] })).toEqual([])
  })

  test('speed and the four kinds of thinking and of tool choice are taken', () => {
    for (const speed of ['fast', 'standard', null]) expect(pathsOf({ speed })).toEqual([])
    expect(THINKING).toHaveLength(4)
    for (const type of ['disabled', 'adaptive', 'between_tools']) expect(pathsOf({ thinking: { type } })).toEqual([])
    for (const type of ['auto', 'any', 'none']) expect(pathsOf({ tool_choice: { type } })).toEqual([])
    expect(pathsOf({ tool_choice: { type: 'tool', name: 't' } })).toEqual([])
  })

  test('metadata is checked at inference: user_id is a string', () => {
    expect(refusedPaths(() => validateRequest(rules, bodyOf({ metadata: { user_id: 7 } })))).toEqual(['metadata.user_id'])
  })
})

describe('tools', () => {
  const shapes: object[] = [
    { name: 'mine', input_schema: { type: 'object' } },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250124', name: 'str_replace_editor' },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
    { type: 'web_search_20260209', name: 'web_search', allowed_callers: ['direct'] },
    { type: 'advisor_20260301', name: 'advisor', model: 'a/b' },
    { type: 'service:bash' },
    { type: 'service:datetime' },
    { type: 'service:image_generation' },
    { type: 'service:experimental__search_models' },
    { type: 'service:web_fetch' },
    { type: 'openrouter:web_search' },
    { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
    { type: 'tool_search_tool_regex', name: 'tool_search_tool_regex' },
    { type: 'service:shell' },
    { type: 'service:tool_search' },
    { type: 'code_execution_20260120', name: 'code_execution' },
  ]

  test('there are 17 shapes, the generic one among them, and every one is tried here', () => {
    expect([...MESSAGES_TYPED_TOOLS, genericTool]).toHaveLength(17)
    expect(shapes).toHaveLength(17)
  })

  test.each(shapes)('accepted and kept: %p', (tool) => {
    expect(configOf({ tools: [tool] })).toEqual({ tools: [tool] } as never)
  })

  test('only one that nobody knows gives a warning', () => {
    const { warnings } = presetContentOf({ tools: [...shapes, { type: 'later_20991231' }] })
    expect(warnings.map(({ field }) => field)).toEqual(['tools[17].type'])
  })

  test.each(['custom', null])('the type of a custom tool may be %j', (type) => {
    expect(presetContentOf({ tools: [{ type, name: 'mine', input_schema: {} }] }).warnings).toEqual([])
  })

  test.each<[object, string]>([
    [{ name: 'mine' }, 'tools[0].input_schema'],
    [{ type: 5, name: 'mine', input_schema: {} }, 'tools[0].type'],
    [{ type: 'bash_20250124', name: 'sh' }, 'tools[0].name'],
    [{ type: 'advisor_20260301', name: 'advisor' }, 'tools[0].model'],
    [{ type: 'web_search_20250305', name: 'web_search', max_uses: 0 }, 'tools[0].max_uses'],
  ])('400: a known tool that is wrong, by path: %p', (tool, path) => {
    expect(pathsOf({ tools: [tool] })).toEqual([path])
  })
})

test.each([
  ['a request', requestSchema],
  ['a preset body', presetBodySchema],
])('OpenAPI: the schema of %s is representable, and every field is in it', (_, schema) => {
  const { $defs = {} } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' })
  const properties = $defs[schema.meta()?.id ?? '']?.properties ?? {}
  expect(Object.entries(REQUEST_FIELDS.messages).filter(([name, { schema }]) => schema !== undefined && !(name in properties))).toEqual([])
})
