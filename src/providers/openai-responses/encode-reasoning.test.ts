import { expect, test } from 'bun:test'

import type { Prompt } from '../../canonical/prompt.ts'
import type { SettingValues } from '../../canonical/settings.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { assistant, encode, proof, set, text } from './encode.test-kit.ts'

test.each<[string, Partial<Prompt>, boolean]>([
  ['o3', {}, true],
  ['openai/gpt-5-mini', {}, true],
  ['gpt-4o', {}, false],
  ['ft:gpt-4.1:acme', { settings: set('reasoning', { effort: 'high' }) }, false],
  ['gpt-5-chat-latest', {}, false],
  ['local-model', {}, false],
  ['local-model', { settings: set('reasoning', { effort: 'high' }) }, true],
  ['local-model', { settings: set('reasoning', { enabled: false }) }, false],
  ['local-model', { messages: [assistant({ type: 'reasoning', text: '', proof }, text('Yes.'))] }, true],
])('thinking of %s given %j is asked for in encrypted form: %p', (model, prompt, asked) => {
  expect(encode(prompt, { model }).sent['include']).toEqual(asked ? ['reasoning.encrypted_content'] : (undefined as never))
})

test.each<[string, SettingValues['reasoning'], JsonObject | undefined, Warning['code'][]]>([
  ['gpt-5.4', { effort: 'high' }, { effort: 'high' }, []],
  ['gpt-5.4', { effort: 'xhigh', summary: 'detailed' }, { effort: 'xhigh', summary: 'detailed' }, []],
  ['gpt-5.4', { enabled: true }, { effort: 'medium', summary: 'auto' }, []],
  ['gpt-5.4', { enabled: true, exclude: true }, { effort: 'medium' }, []],
  ['o3', { enabled: true }, { summary: 'auto' }, []],
  ['o3', { exclude: true }, undefined, []],
  ['o3', { effort: 'max' }, { effort: 'high' }, ['mapped_field']],
  ['gpt-5.4', { effort: 'minimal' }, { effort: 'low' }, ['mapped_field']],
  ['gpt-5.4', { effort: 'max' }, { effort: 'xhigh' }, ['mapped_field']],
  ['gpt-5.6-sol', { effort: 'max' }, { effort: 'max' }, []],
  ['gpt-5-pro', { effort: 'low' }, { effort: 'high' }, ['mapped_field']],
  ['gpt-5.2-chat-latest', { effort: 'high' }, { effort: 'medium' }, ['mapped_field']],
  ['local-model', { effort: 'max' }, { effort: 'max' }, []],
  ['gpt-5.4', { maxTokens: 1024 }, { effort: 'low', summary: 'auto' }, ['mapped_field']],
  ['gpt-5.4', { maxTokens: 4096 }, { effort: 'medium', summary: 'auto' }, ['mapped_field']],
  ['gpt-5.4', { maxTokens: 32_000, exclude: true }, { effort: 'high' }, ['mapped_field']],
  ['gpt-5.4', { maxTokens: 1024, effort: 'high' }, { effort: 'high', summary: 'auto' }, ['mapped_field']],
  ['gpt-5.4', { enabled: false }, { effort: 'none' }, []],
  ['gpt-5.4', { maxTokens: 0 }, { effort: 'none' }, []],
  ['gpt-5', { enabled: false }, { effort: 'minimal' }, ['mapped_field']],
  ['gpt-5.3-codex', { effort: 'none' }, { effort: 'low' }, ['mapped_field']],
  ['o4-mini', { enabled: false }, { effort: 'low' }, ['mapped_field']],
  ['gpt-4o', { enabled: false }, undefined, []],
  ['gpt-4o', { effort: 'low' }, undefined, ['unsupported_field']],
])('on %s, %j is asked for as %j', (model, reasoning, sent, codes) => {
  const encoded = encode({ settings: set('reasoning', reasoning) }, { model })
  expect(encoded.sent['reasoning']).toEqual(sent as never)
  expect(encoded.warnings.map(({ code }) => code)).toEqual(codes)
})

test.each<[string, SettingValues['reasoning'], JsonObject | undefined, Warning['code'][]]>([
  ['grok-4.7', { effort: 'xhigh' }, { effort: 'xhigh' }, []],
  ['grok-4.7', { effort: 'minimal' }, { effort: 'low' }, ['mapped_field']],
  ['grok-4.5', { effort: 'max' }, { effort: 'high' }, ['mapped_field']],
  ['grok-4.5', { enabled: false }, { effort: 'low' }, ['mapped_field']],
  ['grok-4.3', { enabled: false }, { effort: 'none' }, []],
  ['grok-build-0.1', { effort: 'high' }, undefined, ['unsupported_field']],
  ['grok-build-0.1', { maxTokens: 4096, exclude: true }, undefined, ['unsupported_field']],
])("xAI's %s is asked for %j as for %j, which is what it knows", (model, reasoning, sent, codes) => {
  const encoded = encode({ settings: set('reasoning', reasoning) }, { model, provider: 'xai' })
  expect(encoded.sent['reasoning']).toEqual(sent as never)
  expect(encoded.warnings.map(({ code }) => code)).toEqual(codes)
})
