import { expect, test } from 'bun:test'

import { rulesOf, type ModelRules } from './model-rules.ts'

type Row = [string, ModelRules['sampling'], ModelRules['thinking'], ModelRules['thinkingOff'], ModelRules['forcedTools'], boolean]

test.each<Row>([
  // model, sampling, thinking, how thinking is turned off, forced tools, system turns
  ['claude-3-opus-20240229', 'all', 'none', 'silence', 'without-thinking', false],
  ['claude-3-5-haiku-20241022', 'all', 'none', 'silence', 'without-thinking', false],
  ['us.anthropic.claude-3-7-sonnet-20250219-v1:0', 'all', 'budget', 'silence', 'without-thinking', false],
  ['claude-opus-4-20250514', 'all', 'budget', 'silence', 'without-thinking', false],
  ['claude-opus-4@20250514', 'all', 'budget', 'silence', 'without-thinking', false],
  ['claude-opus-4-1-20250805', 'one', 'budget', 'silence', 'without-thinking', false],
  ['claude-sonnet-4-5-20250929', 'one', 'budget', 'silence', 'without-thinking', false],
  ['anthropic/claude-haiku-4.5', 'one', 'budget', 'silence', 'without-thinking', false],
  ['claude-opus-4-6', 'one', 'either', 'silence', 'without-thinking', false],
  ['claude-opus-4-7', 'none', 'adaptive', 'silence', 'without-thinking', false],
  ['claude-opus-4-8', 'none', 'adaptive', 'silence', 'always', true],
  ['claude-mythos-preview', 'none', 'adaptive', 'never', 'always', false],
  ['claude-sonnet-5', 'none', 'adaptive', 'disabled', 'always', false],
  ['claude-opus-5', 'none', 'adaptive', 'disabled', 'always', true],
  ['claude-fable-5', 'none', 'adaptive', 'never', 'always', true],
  ['claude-fable-5-1', 'none', 'adaptive', 'never', 'never', true],
  ['claude-opus-5-5', 'none', 'adaptive', 'never', 'never', true],
  ['claude-sonnet-5-5', 'none', 'adaptive', 'between_tools', 'never', true],
  ['claude-haiku-5-5', 'none', 'adaptive', 'disabled', 'always', true],
  ['MiniMax-M3', 'all', 'budget', 'silence', 'without-thinking', false],
])('%s', (model, sampling, thinking, thinkingOff, forcedTools, systemTurns) => {
  expect(rulesOf(model)).toMatchObject({ sampling, thinking, thinkingOff, forcedTools, systemTurns })
})

test.each<[string, string]>([
  ['claude-sonnet-4-5', ''],
  ['claude-opus-4-5-20251101', 'low medium high'],
  ['claude-sonnet-4-6', 'low medium high max'],
  ['claude-mythos-preview', 'low medium high max'],
  ['claude-opus-4-7', 'low medium high xhigh max'],
  ['MiniMax-M3', ''],
])('efforts of %s: %s', (model, efforts) => {
  expect(rulesOf(model).efforts.join(' ')).toBe(efforts)
})

test.each<[string, boolean]>([
  ['claude-opus-4-8', false],
  ['claude-opus-5', true],
  ['claude-opus-5-5', true],
  ['claude-sonnet-5', false],
  ['claude-sonnet-5-5', true],
  ['claude-haiku-4-5-20251001', false],
  ['claude-haiku-5-5', true],
  ['claude-fable-5', false],
  ['claude-fable-5-1', true],
  ['claude-mythos-5-2', true],
  ['claude-mythos-preview', false],
  ['MiniMax-M3', false],
])('%s takes changes of the effort within a conversation: %p', (model, effortChanges) => {
  expect(rulesOf(model).effortChanges).toBe(effortChanges)
})
