/** No accepted body causes much more work than its length and its limits suggest. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'

import { growth, LINEAR } from '../../test/support/growth.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { messagesFormat } from './anthropic-messages/anthropic-messages.ts'
import type { ClientFormat } from './format.ts'
import { chatFormat } from './openai-chat/openai-chat.ts'
import { responsesFormat } from './openai-responses/openai-responses.ts'
import { atOnce } from '../lib/steps.ts'

// The bodies are large, and the machine may be busy with other work.
setDefaultTimeout(300_000)

const list = (count: number, item: (at: number) => unknown): unknown[] => Array.from({ length: count }, (_, at) => item(at))
const named = (count: number, value: unknown): Record<string, unknown> =>
  Object.fromEntries(list(count, (at) => [String(at), value]) as [string, unknown][])
const text = (content: unknown) => ({ role: 'user', content })
const call = (at: number) => ({ id: `call_${at}`, type: 'function', function: { name: 'f', arguments: '{}' } })

type Shape = readonly [name: string, format: ClientFormat, size: number, bodyOf: (size: number) => Record<string, unknown>]

/** Bodies at half of the limits. */
const SHAPES: readonly Shape[] = [
  ['messages', chatFormat, 9000, (size) => ({ messages: list(size, () => text('x')) })],
  ['parts', chatFormat, 9000, (size) => ({ messages: [text(list(size, () => ({ type: 'text', text: 'x' })))] })],
  ['calls', chatFormat, 4500, (size) => ({ messages: [text('x'), { role: 'assistant', content: null, tool_calls: list(size, call) }] })],
  [
    'tools',
    chatFormat,
    3000,
    (size) => ({ messages: [text('x')], tools: list(size, (at) => ({ type: 'function', function: { name: `f${at}`, parameters: {} } })) }),
  ],
  ['unknown fields', chatFormat, 450, (size) => ({ messages: [text('x')], ...named(size, 'x') })],
  ['members', chatFormat, 4500, (size) => ({ messages: [text('x')], logit_bias: named(size, 1) })],
  ['escapes', chatFormat, 200_000, (size) => ({ messages: [text('\n'.repeat(size))] })],
  ['messages', messagesFormat, 9000, (size) => ({ max_tokens: 9, messages: list(size, () => text('x')) })],
  [
    'results',
    messagesFormat,
    9000,
    (size) => ({ max_tokens: 9, messages: [text(list(size, (at) => ({ type: 'tool_result', tool_use_id: `t${at}`, content: 'x' })))] }),
  ],
  ['items', responsesFormat, 9000, (size) => ({ input: list(size, () => text('x')) })],
  [
    'outputs',
    responsesFormat,
    9000,
    (size) => ({ input: list(size, (at) => ({ type: 'function_call_output', call_id: `c${at}`, output: 'x' })) }),
  ],
]

describe('four times as much takes about four times as long', () => {
  test.each(SHAPES.map(([name, format, size, bodyOf]) => [`${name} of ${format.dialect}`, format, size, bodyOf] as const))(
    '%s',
    (_, format, size, bodyOf) => {
      const workOn = (count: number) => {
        const bytes = Buffer.from(JSON.stringify({ model: 'm', ...bodyOf(count) }))
        return () => void atOnce(format.parseCall(JsonBody.ofBytes(bytes))).call.prompt()
      }
      expect(growth(workOn, size / 2)).toBeLessThan(LINEAR)
    },
  )
})
