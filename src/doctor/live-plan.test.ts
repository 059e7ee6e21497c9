import { expect, test } from 'bun:test'

import { familyOf } from './live-plan.ts'

test.each<[string, string]>([
  ['claude-opus-4-8-20260801', 'claude-opus'],
  ['claude-3-7-sonnet-latest', 'claude-sonnet'],
  ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 'us-anthropic-claude-haiku'],
  ['gpt-5.4-mini', 'gpt-mini'],
  ['gpt-4o', 'gpt'],
  ['o3', 'o'],
  ['o4-mini-2025-04-16', 'o-mini'],
  ['models/gemini-2.5-flash-lite-preview', 'gemini-flash-lite'],
  ['meta-llama/Llama-3.3-70b-Instruct', 'llama-instruct'],
])('the family of %s is %s', (name, family) => {
  expect(familyOf(name)).toBe(family)
})
