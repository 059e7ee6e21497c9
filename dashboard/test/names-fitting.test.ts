import { expect, test } from 'bun:test'

import { namesFitting } from '../src/parts/names-fitting.ts'

const NAMES = [
  'sandbox/echo',
  'openai/gpt-5.4',
  '@preset/echo-bot',
  'Echo',
  ...Array.from({ length: 10_000 }, (_, number) => `other/model-${number}`),
]

test('of ten thousand names a few are offered, those first that begin with what is typed', () => {
  expect(namesFitting(NAMES, 'echo')).toEqual(['Echo', 'sandbox/echo', '@preset/echo-bot'])
  expect(namesFitting(NAMES, ' GPT')).toEqual(['openai/gpt-5.4'])
  expect(namesFitting(NAMES, 'MODEL-9999')).toEqual(['other/model-9999'])
  expect(namesFitting(NAMES, '')).toHaveLength(50)
  expect(namesFitting(NAMES, '').slice(0, 4)).toEqual(NAMES.slice(0, 4))
  expect(namesFitting([...NAMES, 'model-first'], 'model-')[0]).toBe('model-first')
  expect(namesFitting(NAMES, 'nothing')).toEqual([])
})
