import { expect, test } from 'bun:test'

import { JsonBody } from '../lib/json/json-body.ts'
import { atOnce } from '../lib/steps.ts'
import { withoutToolsOfMessages } from './hold-in-messages.ts'

const held = (messages: readonly object[]) => {
  const { changes, paths } = atOnce(withoutToolsOfMessages(JsonBody.read(JSON.stringify({ messages }))))
  return { messages: JSON.parse(changes['messages'] ?? 'null') as unknown, paths }
}

const addition = { type: 'tool_addition', tool: { type: 'tool_definition', definition: { name: 'mine', input_schema: {} } } }
const words = { type: 'text', text: 'Now.' }
const said = { role: 'user', content: 'Hi' }

test('blocks that define a tool go, and the words beside them, tools that are only named, and summaries stay', () => {
  const named = { type: 'tool_addition', tool: { type: 'tool_reference', name: 'own' } }
  const summary = { type: 'compaction', content: 'Hi.', signature: 's' }
  expect(
    held([
      { role: 'assistant', content: [{ ...summary, tool_changes: [addition] }] },
      said,
      { role: 'system', content: [words, addition, named] },
      said,
      { role: 'system', content: [addition] },
    ]),
  ).toEqual({
    messages: [{ role: 'assistant', content: [summary] }, said, { role: 'system', content: [words, named] }, said],
    paths: ['messages[0].content[0]', 'messages[2].content[1]', 'messages[4].content[0]'],
  })
})

test('a message may have tools in both ways', () => {
  expect(
    held([
      { ...said, tools: [{ name: 'a' }] },
      { role: 'system', content: [words, addition], tools: [{ name: 'b' }] },
    ]),
  ).toEqual({
    messages: [said, { role: 'system', content: [words] }],
    paths: ['messages[0].tools', 'messages[1].tools', 'messages[1].content[1]'],
  })
})

test('messages without tools are not changed', () => {
  expect(held([said, { role: 'user', content: [{ type: 'text', text: '"tool_addition" "tools"' }] }])).toEqual({
    messages: null,
    paths: [],
  })
})
