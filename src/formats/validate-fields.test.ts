import { describe, expect, test } from 'bun:test'

import { rules } from './openai-chat/schema.ts'
import { bodyOf, refusedPaths } from './refusal.test-kit.ts'
import { validateRequest } from './validate-request.ts'
import { PLUGINS } from '../request-fields/schemas/plugins.ts'
import { provider } from '../request-fields/schemas/routing.ts'
import { STOP_CONDITIONS } from '../request-fields/schemas/stop-conditions.ts'

const validated = (fields: Readonly<Record<string, unknown>>) => validateRequest(rules, bodyOf(fields))
const pathsOf = (fields: Readonly<Record<string, unknown>>) => refusedPaths(() => validated(fields))

describe('plugins', () => {
  const shapes: ({ id: string } & Record<string, unknown>)[] = [
    { id: 'auto-router', enabled: true, allowed_models: ['a/*'], excluded_models: [], cost_tier: 'xhigh', pin_model: false },
    { id: 'auto-beta-router', cost_quality_tradeoff: 10 },
    { id: 'moderation' },
    { id: 'web', engine: 'native', max_results: 5, include_domains: ['a.org'] },
    { id: 'web-fetch', max_content_tokens: 1000 },
    { id: 'file-parser', pdf: { engine: 'pdf-text' } },
    { id: 'response-healing', enabled: false },
    { id: 'context-compression', engine: 'middle-out' },
    { id: 'pareto-router', min_coding_score: 1, price_source: 'prompt' },
    { id: 'fusion', analysis_models: ['a/b'], preset: 'general-fast', tools: [{ type: 'service:web_search' }] },
    { id: 'switchyard-router', algorithm: 'stage' },
    { id: 'jev-router', models: ['a/b'], cost_tier: 'a tier of ours' },
    { id: 'alignment', rules: ['Be kind.'], mode: 'audit', threshold: 0.7 },
  ]

  test('there are 13, and every one is tried here', () => {
    expect(PLUGINS).toHaveLength(13)
    expect(new Set(shapes.map(({ id }) => id)).size).toBe(13)
  })

  test.each(shapes)('accepted: %p', (plugin) => {
    expect(validated({ plugins: [plugin] })).toEqual([])
  })

  test('an unknown one gives a warning', () => {
    expect(validated({ plugins: [{ id: 'moderation' }, { id: 'new-thing', x: 1 }] })).toEqual([
      { code: 'unknown_plugin', field: 'plugins[1].id', message: expect.any(String) },
    ])
  })

  const wrong: [object, string][] = [
    [{ enabled: true }, 'plugins[0].id'],
    [{ id: 'alignment' }, 'plugins[0].rules'],
    [{ id: 'alignment', rules: [] }, 'plugins[0].rules'],
    [{ id: 'alignment', rules: Array(33).fill('Be kind.') }, 'plugins[0].rules'],
    [{ id: 'alignment', rules: ['Be kind.', ' '] }, 'plugins[0].rules[1]'],
    [{ id: 'alignment', rules: ['a'.repeat(2001)] }, 'plugins[0].rules[0]'],
    [{ id: 'web', max_results: 26 }, 'plugins[0].max_results'],
    [{ id: 'auto-router', cost_tier: 'free' }, 'plugins[0].cost_tier'],
    [{ id: 'auto-router', allowed_models: Array(1025).fill('a') }, 'plugins[0].allowed_models'],
    [{ id: 'auto-router', allowed_models: ['a'.repeat(1025)] }, 'plugins[0].allowed_models[0]'],
    [{ id: 'auto-router', excluded_models: Array(65).fill('a'.repeat(1024)) }, 'plugins[0].excluded_models'],
    [{ id: 'fusion', analysis_models: [] }, 'plugins[0].analysis_models'],
    [{ id: 'fusion', max_tool_calls: 17 }, 'plugins[0].max_tool_calls'],
    [{ id: 'pareto-router', min_coding_score: 1.1 }, 'plugins[0].min_coding_score'],
  ]

  test.each(wrong.map(([plugin, path]) => [path, plugin] as const))('400: a plugin that is wrong at %s', (path, plugin) => {
    expect(pathsOf({ plugins: [plugin] })).toEqual([path])
  })
})

describe('stop conditions', () => {
  const shapes = [
    { type: 'step_count_is', step_count: 5 },
    { type: 'has_tool_call', tool_name: 'finish' },
    { type: 'max_tokens_used', max_tokens: 1000 },
    { type: 'max_cost', max_cost_in_dollars: 0.5 },
    { type: 'finish_reason_is', reason: 'stop' },
  ]

  test('there are 5, and every one is accepted', () => {
    expect(STOP_CONDITIONS).toHaveLength(5)
    expect(shapes).toHaveLength(5)
    expect(pathsOf({ stop_server_tools_when: shapes })).toEqual([])
  })

  test.each<[unknown, string]>([
    [[], 'stop_server_tools_when'],
    [[{ type: 'moon_is_full' }], 'stop_server_tools_when[0].type'],
    [[{ type: 'has_tool_call', tool_name: '' }], 'stop_server_tools_when[0].tool_name'],
    [[{ type: 'step_count_is', step_count: 0 }], 'stop_server_tools_when[0].step_count'],
  ])('400: %p', (stop_server_tools_when, path) => {
    expect(pathsOf({ stop_server_tools_when })).toEqual([path])
  })
})

describe('deferred tools', () => {
  const complete = { profile: 'portable', protocol: 'v1', validation: 'runtime', search: { type: 'bm25', max_results: 5 } }

  test('the four members are required', () => {
    expect(pathsOf({ deferred_tools: complete })).toEqual([])
    expect(pathsOf({ deferred_tools: {} })).toEqual([
      'deferred_tools.profile',
      'deferred_tools.protocol',
      'deferred_tools.validation',
      'deferred_tools.search',
    ])
  })

  test('a search of the client names its tool and where its result is', () => {
    expect(pathsOf({ deferred_tools: { ...complete, search: { type: 'bm25', max_results: 50 } } })).toEqual([])
    expect(pathsOf({ deferred_tools: { ...complete, search: { type: 'bm25', max_results: 51 } } })).toEqual([
      'deferred_tools.search.max_results',
    ])
    expect(pathsOf({ deferred_tools: { ...complete, search: { type: 'custom', tool_id: 't' } } })).toEqual([
      'deferred_tools.search.result_key',
    ])
  })

  test('400: a protocol of another version', () => {
    expect(pathsOf({ deferred_tools: { ...complete, protocol: 'v2' } })).toEqual(['deferred_tools.protocol'])
  })
})

describe('provider preferences', () => {
  test('are the thirteen of the contract, each of which may be null', () => {
    const names = Object.keys(provider.shape)
    expect(names).toHaveLength(13)
    expect(pathsOf({ provider: Object.fromEntries(names.map((name) => [name, null])) })).toEqual([])
  })

  test('400 names every unknown key', () => {
    expect(pathsOf({ provider: { Order: [], sort: 'price', zdrr: true } })).toEqual(['provider.Order', 'provider.zdrr'])
  })
})
