import { describe, expect, test } from 'bun:test'

import { toolCaller, toolTurn } from '../../test/support/tool-turn.ts'
import type { ProviderTool } from '../canonical/prompt.ts'
import { askedTool } from './asked-tools.ts'
import { datetimeTool } from './datetime.ts'
import { searchModelsTool } from './search-models.ts'
import type { Model } from '../models/model.ts'
import type { AskedTool } from './tool.ts'

const raw = (tool: { readonly type: string; readonly [option: string]: unknown }): ProviderTool => ({
  type: 'provider',
  kind: tool.type,
  at: 'tools[0]',
  raw: tool,
})
const asked = (tool: AskedTool['tool'], parameters: AskedTool['parameters'] = {}): AskedTool => ({
  tool,
  askedAs: `service:${tool}`,
  at: 'tools[0]',
  parameters,
})
const TURN = toolTurn()
const NOBODY = toolCaller()

describe('which tools are asked for', () => {
  test('options stand in parameters or beside the type, and parameters have the last word', () => {
    const beside = askedTool(raw({ type: 'openrouter:datetime', timezone: 'Asia/Tokyo' }), 'chat')
    expect(beside).toEqual({ tool: 'datetime', askedAs: 'openrouter:datetime', at: 'tools[0]', parameters: { timezone: 'Asia/Tokyo' } })
    expect(askedTool(raw({ type: 'openrouter:datetime', parameters: { timezone: 'Asia/Tokyo' } }), 'chat')).toEqual(beside)
    const both = askedTool(raw({ type: 'openrouter:datetime', timezone: 'UTC', parameters: { timezone: 'Asia/Tokyo' } }), 'chat')
    expect(both).toEqual(beside)
  })

  test.each([
    ['chat', 'web_search', 'web_search'],
    ['responses', 'web_search_preview_2025_03_11', 'web_search'],
    ['responses', 'tool_search', 'tool_search'],
    ['messages', 'web_search_20250305', 'web_search'],
    ['messages', 'web_fetch_20250910', 'web_fetch'],
    ['messages', 'tool_search_tool_bm25_20251119', 'tool_search'],
    ['chat', 'image_generation', null],
    ['messages', 'bash_20250124', null],
    ['responses', 'file_search', null],
  ] as const)("%s: the vendors' %s is %p", (dialect, type, tool) => {
    expect(askedTool(raw({ type }), dialect)?.tool ?? null).toBe(tool)
  })

  test('a type with our prefix that is no tool is refused by its place', () => {
    expect(() => askedTool(raw({ type: 'service:teleport' }), 'chat')).toThrow('tools[0]: there is no server tool "service:teleport"')
  })
})

describe('datetime', () => {
  const at = (epoch: string) => datetimeTool({ now: () => Date.parse(epoch) })

  test.each([
    ['America/New_York', '2025-07-15T18:30:00.000Z', '2025-07-15T14:30:00.000-04:00'],
    ['America/New_York', '2025-01-15T18:30:00.000Z', '2025-01-15T13:30:00.000-05:00'],
    ['Asia/Kathmandu', '2025-01-15T18:30:00.123Z', '2025-01-16T00:15:00.123+05:45'],
    ['UTC', '2025-01-15T18:30:00.000Z', '2025-01-15T18:30:00.000+00:00'],
  ])('in %s at %s it is %s', async (timezone, now, datetime) => {
    const result = await at(now)(asked('datetime', { timezone }), NOBODY).run({}, TURN)
    expect(result).toEqual({ fault: null, value: { datetime, timezone } })
  })

  test.each(['Mars/Olympus', '', 7])('the zone %p is refused by its place', (timezone) => {
    expect(() => at('2025-01-01')(asked('datetime', { timezone }), NOBODY)).toThrow('tools[0].parameters.timezone')
  })
})

describe('experimental__search_models', () => {
  const model = (id: string, contextLength: number, inputModalities: string[]): Model => ({
    id,
    name: id.toUpperCase(),
    created: 0,
    contextLength,
    inputModalities,
    outputModalities: ['text'],
    supportedParameters: [],
    endpoints: [],
  })
  const caller = toolCaller({
    models: () => [
      model('acme/large', 200_000, ['text', 'image']),
      model('acme/small', 8000, ['text']),
      model('beta/large', 1000, ['text']),
    ],
  })
  const search = async (input: Record<string, never> | Record<string, unknown>, parameters = {}) =>
    searchModelsTool(asked('experimental__search_models', parameters), caller).run(input as never, TURN)

  test.each([
    [{}, ['acme/large', 'acme/small', 'beta/large']],
    [{ query: 'LARGE' }, ['acme/large', 'beta/large']],
    [{ series: 'acme', input_modalities: ['image'] }, ['acme/large']],
    [{ min_context_length: 5000 }, ['acme/large', 'acme/small']],
    [{ query: 'nothing' }, []],
  ])('%j finds %j', async (input, ids) => {
    const { value } = await search(input)
    expect((value['models'] as { id: string }[]).map(({ id }) => id)).toEqual(ids)
  })

  test('as many are shown as the client allows, and the total is given', async () => {
    expect((await search({}, { max_results: 1 })).value).toMatchObject({ total_results: 3, showing: 1 })
    expect(() => searchModelsTool(asked('experimental__search_models', { max_results: 21 }), caller)).toThrow(
      'tools[0].parameters.max_results',
    )
  })

  test('arguments of a wrong type are a result that says so', async () => {
    expect((await search({ query: 7 })).fault?.code).toBe('invalid_tool_input')
  })
})
