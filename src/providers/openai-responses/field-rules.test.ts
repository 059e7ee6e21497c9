import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'

import type { Prompt } from '../../canonical/prompt.ts'
import type { Settings, SettingValues } from '../../canonical/settings.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { encode, type Encoded, send, user } from './encode.test-kit.ts'

const own = (fields: Readonly<Record<string, unknown>>, model?: string): Encoded => {
  const body = JsonBody.read(JSON.stringify({ model: 'a/b', input: 'Hi', ...fields }))
  const prompt = (): Prompt => {
    throw new Error('It is not to be parsed.')
  }
  return send({ dialect: 'responses', body, stream: false, prompt }, model)
}

const settingsOf = (values: Partial<SettingValues>): Settings =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, field: name }]))

const rest = ({ sent, warnings }: Encoded): unknown => {
  const { model: _, input: _input, stream: _stream, store: _store, ...fields } = sent
  return { sent: fields, reported: warnings.map(({ code }) => code) }
}

const LONG = 'u'.repeat(150)

describe('both lanes keep the same rules', () => {
  test.each<[string, string, object, Partial<SettingValues>, object, readonly string[]]>([
    [
      'a model that thinks takes no sampling',
      'gpt-5',
      { temperature: 0.5, top_p: 0.5, top_logprobs: 2, include: ['message.output_text.logprobs', 'reasoning.encrypted_content'] },
      { temperature: 0.5, topP: 0.5, logprobs: true, topLogprobs: 2 },
      { include: ['reasoning.encrypted_content'] },
      ['unsupported_field', 'unsupported_field', 'unsupported_field', 'unsupported_field'],
    ],
    [
      'a model that need not think takes sampling where it does not',
      'gpt-5.2',
      { temperature: 0.5, reasoning: { effort: 'none' }, include: ['reasoning.encrypted_content'] },
      { temperature: 0.5, reasoning: { effort: 'none' } },
      { temperature: 0.5, reasoning: { effort: 'none' }, include: ['reasoning.encrypted_content'] },
      [],
    ],
    [
      'an effort becomes the nearest that the model knows',
      'o3',
      { reasoning: { effort: 'max' }, include: ['reasoning.encrypted_content'] },
      { reasoning: { effort: 'max' } },
      { reasoning: { effort: 'high' }, include: ['reasoning.encrypted_content'] },
      ['mapped_field'],
    ],
    [
      'a model that does not think is not asked to, nor for thinking',
      'gpt-4o',
      { reasoning: { effort: 'high' }, include: ['reasoning.encrypted_content'] },
      { reasoning: { effort: 'high' } },
      {},
      ['unsupported_field'],
    ],
    ['a limit is at least 16', 'gpt-4o', { max_output_tokens: 1 }, { maxOutputTokens: 1 }, { max_output_tokens: 16 }, ['mapped_field']],
    [
      'a name that is too long goes as a hash',
      'gpt-4o',
      { safety_identifier: LONG },
      { user: LONG },
      { safety_identifier: createHash('sha256').update(LONG).digest('hex') },
      [],
    ],
  ])('%s', (_, model, fields, values, sent, reported) => {
    expect([rest(own({ ...fields }, model)), rest(encode({ settings: settingsOf(values) }, { model }))]).toEqual([
      { sent, reported },
      { sent, reported },
    ])
  })
})

test.each(['web_search', 'web_search_preview', 'image_generation'])(
  'minimal thinking becomes low beside %s, with which it is refused',
  (type) => {
    const reasoning = { effort: 'minimal', summary: 'auto' }
    const { sent, warnings } = own(
      { reasoning, tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }, { type }] },
      'gpt-5',
    )
    expect([sent['reasoning'], warnings.map(({ code, field }) => [code, field])]).toEqual([
      { effort: 'low', summary: 'auto' },
      [['mapped_field', 'reasoning']],
    ])
    expect(own({ reasoning, tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }, 'gpt-5').sent['reasoning']).toEqual(
      reasoning,
    )
  },
)

describe('built-in tools that a model does not have are left out, with a warning', () => {
  const called = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }

  test.each([
    ['gpt-4.1-nano', 'web_search'],
    ['gpt-4.1-nano-2025-04-14', 'web_search_preview'],
    ['gpt-4.1', 'computer_use_preview'],
    ['o3', 'computer_use_preview'],
    ['gpt-5', 'computer_use_preview'],
  ])('%s: %s', (model, type) => {
    const { sent, warnings } = own({ tools: [called, { type }], tool_choice: { type } }, model)
    expect([sent['tools'], sent['tool_choice'], warnings.map(({ code, field }) => [code, field])]).toEqual([
      [called],
      undefined,
      [['unsupported_field', 'tools[1]']],
    ])
    expect(own({ tools: [{ type }], tool_choice: 'required' }, model).sent).not.toContainAnyKeys(['tools', 'tool_choice'])
  })

  test.each([
    ['gpt-4.1', 'web_search'],
    ['gpt-4.1-mini', 'web_search'],
    ['gpt-4.1-nano', 'code_interpreter'],
    ['computer-use-preview', 'computer_use_preview'],
    ['a-deployment', 'computer_use_preview'],
  ])('%s keeps %s', (model, type) => {
    const { sent, warnings } = own({ tools: [{ type }], tool_choice: { type } }, model)
    expect([sent['tools'], sent['tool_choice'], warnings]).toEqual([[{ type }], { type }, []])
  })
})

test('fields of this interface that OpenAI does not have are left out, each with a warning', () => {
  const strange = {
    cache_control: { type: 'ephemeral' },
    image_config: { aspect_ratio: '1:1' },
    modalities: ['text', 'image'],
    top_k: 5,
    frequency_penalty: 0.5,
    presence_penalty: 0.5,
  }
  const { sent, lost } = own(strange, 'gpt-4o')
  expect(Object.keys(sent)).toEqual(['model', 'input', 'stream', 'store'])
  expect(lost).toEqual(Object.keys(strange))
  // A penalty of zero, and text as the only modality, ask for nothing.
  expect(own({ frequency_penalty: 0, modalities: ['text'] }).lost).toEqual([])
})

describe('explicit caching goes with its marks, or not at all', () => {
  const options = { mode: 'explicit' }
  const marked = user({ type: 'text', text: 'Hi', cache: {} })
  const toolCall = {
    role: 'assistant',
    parts: [{ type: 'tool-call', id: 'c', name: 'f', arguments: '{}', cache: {} }],
    at: 'messages[1]',
  } as const
  const answered = user({ type: 'tool-result', callId: 'c', text: '' })
  const settings = settingsOf({ promptCacheOptions: options })

  test.each([
    ['gpt-5.6-sol', [marked], options, []],
    ['gpt-5.6-sol', [toolCall, answered], undefined, ['messages[1]', 'promptCacheOptions']],
    ['gpt-5.4', [marked], undefined, ['messages[0]', 'promptCacheOptions']],
    ['local-model', [marked], undefined, ['messages[0]', 'promptCacheOptions']],
  ] as const)('translated, %s', (model, messages, kept, reported) => {
    const { sent, lost } = encode({ messages, settings }, { model })
    expect([sent['prompt_cache_options'], lost]).toEqual([kept as never, reported as never])
  })

  test.each([
    ['gpt-5.6-sol', true],
    ['gpt-5.4', false],
  ])('in its own dialect, %s', (model, kept) => {
    const part = { type: 'input_text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }
    const { text, lost } = own({ input: [{ role: 'user', content: [part] }], prompt_cache_options: options }, model)
    expect([text.includes('prompt_cache_options'), text.includes('prompt_cache_breakpoint')]).toEqual([kept, kept])
    expect(lost).toEqual(kept ? [] : ['prompt_cache_options', 'input[0]'])
  })
})

test('marks of other vendors are left out of the history and the tools, and the rest stays as it was written', () => {
  const parameters = { type: 'object', properties: {} }
  const tool = { type: 'function', name: 'f', parameters, cache_control: { type: 'ephemeral' } }
  const item = { role: 'user', content: [{ type: 'input_text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }
  const { sent, lost } = own({ input: [item], tools: [tool] })
  expect([sent['input'], sent['tools'], lost]).toEqual([
    [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    [{ type: 'function', name: 'f', parameters }],
    ['input[0]'],
  ])
})
