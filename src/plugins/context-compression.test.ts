import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import type { ClientDialect } from '../canonical/call.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { atOnce } from '../lib/steps.ts'
import { compressConversation } from './context-compression.ts'

type Item = Readonly<Record<string, unknown>>

const compress = (dialect: ClientDialect, items: readonly Item[], excess: number) => {
  const field = dialect === 'responses' ? 'input' : 'messages'
  const compressed = atOnce(compressConversation(dialect, JsonBody.read(JSON.stringify({ [field]: items })), excess))
  return compressed === null ? null : { ...compressed, kept: compressed.body.get(field) as Item[] }
}

const said = (role: string, content: string): Item => ({ role, content })

test('42 messages: the middle goes until the rest fits; system, first and last stay', () => {
  const items = [
    said('system', 'Rules'),
    ...Array.from({ length: 41 }, (_, at) => said(at % 2 === 0 ? 'user' : 'assistant', `${at} ${'x'.repeat(400)}`)),
  ]
  const compressed = compress('chat', items, 2000)
  expect(compressed).toMatchObject({ inputType: 'messages', originalCount: 42 })
  const kept = compressed?.kept ?? []
  expect(kept).toHaveLength(compressed?.compressedCount ?? 0)
  expect(kept.length).toBeGreaterThan(15)
  expect(kept.length).toBeLessThan(30)
  expect(kept.slice(0, 3)).toEqual(items.slice(0, 3))
  expect(kept.slice(-3)).toEqual(items.slice(-3))
})

test('nothing goes where nothing may', () => {
  expect(compress('chat', [said('system', 'a'), said('user', 'b'.repeat(9000)), said('user', 'c')], 1000)).toBeNull()
  expect(atOnce(compressConversation('responses', JsonBody.read('{"input":"a text"}'), 10))).toBeNull()
})

const CALLS: Readonly<Record<ClientDialect, (id: string, size: number) => readonly Item[]>> = {
  chat: (id, size) => [
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: id, content: 'r'.repeat(size) },
  ],
  responses: (id, size) => [
    { type: 'reasoning', id: `rs_${id}`, summary: [] },
    { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: id, output: 'r'.repeat(size) },
  ],
  messages: (id, size) => [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'r'.repeat(size) }] },
  ],
}

const idsOf = (items: readonly Item[], kind: 'call' | 'result'): string[] => {
  const text = items.map((item) => JSON.stringify(item))
  const pattern =
    kind === 'call'
      ? /"(?:type":"function_call","call_id|type":"tool_use","id|tool_calls":\[\{"id)":"(c\d+)"/
      : /(?:output","call_id|tool_call_id|tool_use_id)":"(c\d+)"/
  return text.flatMap((one) => pattern.exec(one)?.[1] ?? [])
}

describe.each(['chat', 'responses', 'messages'] as const)('%s', (dialect) => {
  test('a call never parts from its result, nor thinking from its call, and what stays keeps its order', () => {
    const turn = fc.record({ calls: fc.nat(2), size: fc.nat(400), says: fc.boolean(), late: fc.boolean() })
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 12 }), fc.nat(3000), (turns, excess) => {
        const items: Item[] = [said('user', 'first')]
        for (const [at, { calls, size, says, late }] of turns.entries()) {
          if (says) items.push(said('user', `u${at}`), said('assistant', 'y'.repeat(size)))
          for (let index = 0; index < calls; index += 1) {
            const made = CALLS[dialect](`c${at}${index}`, size)
            items.push(...made.slice(0, -1), ...(late ? [said('user', 'wait')] : []), ...made.slice(-1))
          }
        }
        items.push(said('user', 'last'))
        const kept = compress(dialect, items, excess)?.kept ?? items
        expect(idsOf(kept, 'call')).toEqual(idsOf(kept, 'result'))
        const texts = items.map((item) => JSON.stringify(item))
        let from = 0
        for (const item of kept) from = texts.indexOf(JSON.stringify(item), from) + 1 || Number.NaN
        expect(from).toBe(texts.length)
        expect([kept[0], kept.at(-1)]).toEqual([items[0], items.at(-1)])
        if (dialect !== 'responses') return
        for (const [at, item] of kept.entries()) if (item['type'] === 'reasoning') expect(kept[at + 1]?.['type']).toBe('function_call')
      }),
    )
  })
})
