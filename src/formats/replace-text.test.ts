import { expect, test } from 'bun:test'

import { replaceText } from './replace-text.ts'

const louder = (text: string): string => text.toUpperCase()

test('chat: the text of each choice, but for one that was cut; every other byte stays', () => {
  const json =
    '{ "id":"x", "n":9007199254740993,"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"},{"message":{"content":"b"},"finish_reason":"length"},{"message":{"content":null}}] }'
  expect(replaceText('chat', json, louder)).toBe(json.replace('"content":"a"', '"content":"A"'))
})

test('responses: the last text of the last message', () => {
  const json =
    '{"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"reasoning","summary":[]},{"type":"message","content":[{"type":"output_text","text":"b","annotations":[]}]}]}'
  expect(replaceText('responses', json, louder)).toBe(json.replace('"text":"b"', '"text":"B"'))
})

test('messages: the last text block', () => {
  const json = '{"content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"a"},{"type":"tool_use","input":{"text":"c"}}]}'
  expect(replaceText('messages', json, louder)).toBe(json.replace('"text":"a"', '"text":"A"'))
})

test('an answer of another form stays as it is', () => {
  for (const json of ['{}', '{"choices":null}', '{"choices":[{"message":null}]}', '{"choices":[]}'])
    expect(replaceText('chat', json, louder)).toBe(json)
})
