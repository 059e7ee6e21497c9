import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { isObject, objectsIn } from '../../lib/json/json.ts'
import { recorded } from './ask.test-kit.ts'
import type { Json } from './decode-output.ts'
import { createSequence } from './whole-sequence.ts'

const sequence = (events: readonly Json[]): Json[] => {
  const complete = createSequence()
  return events.flatMap((event) => complete(event, JSON.stringify(event).length))
}

const source = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 }
const text = { type: 'output_text', text: 'Hello', annotations: [source], logprobs: [] }
const refusal = { type: 'refusal', refusal: 'No.' }
const summary = { type: 'summary_text', text: 'Hmm' }
const REASONING = { type: 'reasoning', id: 'rs_1', status: 'completed', summary: [summary] }
const MESSAGE = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] }
const REFUSED = { ...MESSAGE, id: 'msg_2', content: [refusal] }
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"a":1}', status: 'completed' }
const CUSTOM = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'g', input: 'raw', status: 'completed' }
const OUTPUT = [REASONING, MESSAGE, REFUSED, CALL, CUSTOM]

const begun = { id: 'resp_1', status: 'in_progress', output: [] }
const at = (output_index: number, more: Json = {}): Json => ({ item_id: OUTPUT[output_index]?.id, output_index, ...more })
const on = (type: string, more: Json): Json => ({ type: `response.${type}`, ...more })
const item = (output_index: number, empty: Json): [Json, Json] => [
  on('output_item.added', { output_index, item: { ...OUTPUT[output_index], ...empty, status: 'in_progress' } }),
  on('output_item.done', { output_index, item: OUTPUT[output_index] }),
]
const around = ([first, last]: [Json, Json], ...within: readonly Json[]): Json[] => [first, ...within, last]
const part = (place: Json, said: string, member: string, holder: string, whole: Json, ...sources: readonly Json[]): Json[] => [
  on(`${holder}.added`, { ...place, part: { ...whole, [member]: '' } }),
  on(`${said}.delta`, { ...place, delta: String(whole[member]).slice(0, 2) }),
  on(`${said}.delta`, { ...place, delta: String(whole[member]).slice(2) }),
  ...sources,
  on(`${said}.done`, { ...place, [member]: whole[member] }),
  on(`${holder}.done`, { ...place, part: whole }),
]

/** All events that OpenAI sends for such an answer. */
const WHOLE: readonly Json[] = [
  on('created', { response: begun }),
  on('in_progress', { response: begun }),
  ...around(
    item(0, { summary: [] }),
    ...part(at(0, { summary_index: 0 }), 'reasoning_summary_text', 'text', 'reasoning_summary_part', summary),
  ),
  ...around(
    item(1, { content: [] }),
    ...part(
      at(1, { content_index: 0 }),
      'output_text',
      'text',
      'content_part',
      text,
      on('output_text.annotation.added', at(1, { content_index: 0, annotation_index: 0, annotation: source })),
    ),
  ),
  ...around(item(2, { content: [] }), ...part(at(2, { content_index: 0 }), 'refusal', 'refusal', 'content_part', refusal)),
  ...around(
    item(3, { arguments: '' }),
    on('function_call_arguments.delta', at(3, { delta: '{"a":1}' })),
    on('function_call_arguments.done', at(3, { name: 'f', arguments: '{"a":1}' })),
  ),
  ...around(
    item(4, { input: '' }),
    on('custom_tool_call_input.delta', at(4, { delta: 'raw' })),
    on('custom_tool_call_input.done', at(4, { input: 'raw' })),
  ),
  on('completed', { response: { id: 'resp_1', status: 'completed', output: OUTPUT } }),
]

/** The events of each item, without the way in which its texts are split; the others have no item. */
const byItem = (events: readonly Json[]): object => {
  const items: Record<string, { type: unknown; said: unknown }[]> = {}
  for (const { type, output_index: index, delta, text: said, refusal: refused, arguments: args, input } of events) {
    const known = (items[String(index)] ??= [])
    const last = known.at(-1)
    if (last !== undefined && last.type === type && typeof delta === 'string') last.said = String(last.said) + delta
    else known.push({ type, said: delta ?? said ?? refused ?? args ?? input })
  }
  return items
}

describe('a stream', () => {
  test.each(['openai-reasoning-encrypted-content.1', 'openai-error.1'])('that is complete stays as it is: %s', (name) => {
    const complete = createSequence()
    for (const event of recorded(name).map((line): Json => JSON.parse(line))) expect(complete(event, 100)[0]).toBe(event)
  })

  test('with every kind of item and all its events stays as it is', () => {
    const sent = sequence(WHOLE)
    expect(sent.length).toBe(WHOLE.length)
    for (const [position, event] of sent.entries()) expect(event).toBe(WHOLE[position]!)
  })

  test('has all its events in order, whichever kinds of them the server left out', () => {
    const types = [...new Set(WHOLE.map(({ type }) => type))].filter((type) => type !== 'response.completed')
    fc.assert(
      fc.property(fc.subarray(types), (kept) => {
        const left = WHOLE.filter(({ type }) => type === 'response.completed' || kept.includes(type))
        const shown = new Set(left.map((event) => event['output_index']))
        // An item of which the stream showed nothing counts as a repetition of one that it showed at another position.
        fc.pre(shown.size === 1 || OUTPUT.every((_, position) => shown.has(position)))
        // A source that comes before its text, or is only known once the text has ended, keeps its place.
        const has = (type: string): boolean => kept.includes(`response.output_text.${type}`)
        fc.pre(has('annotation.added') ? has('delta') : !has('done'))
        expect(byItem(sequence(left))).toEqual(byItem(WHOLE))
      }),
      { numRuns: 500 },
    )
  })

  test('without the places of its events gets them', () => {
    const placeless = WHOLE.map(({ output_index: _o, content_index: _c, summary_index: _s, ...event }): Json => event)
    expect(sequence(placeless)).toEqual([...WHOLE])
  })

  test('whose parts are counted on from item to item, as vLLM counts them, has them where the items have them', () => {
    let last = -1
    const counted = WHOLE.map((event): Json => {
      if (!('content_index' in event)) return event
      if (event['type'] === 'response.content_part.added') last += 1
      return { ...event, content_index: last }
    })
    expect(counted).not.toEqual([...WHOLE])
    expect(sequence(counted)).toEqual([...WHOLE])
  })

  test('whose calls have no ids but those of the calls keeps them apart', () => {
    const call = (id: string): Json => ({ type: 'function_call', call_id: id, name: 'f', arguments: `"${id}"` })
    const events = sequence([
      on('output_item.added', { item: { ...call('a'), arguments: '' } }),
      on('function_call_arguments.delta', { item_id: 'a', delta: '"a"' }),
      on('output_item.added', { item: { ...call('b'), arguments: '' } }),
      on('function_call_arguments.delta', { item_id: 'b', delta: '"b"' }),
      on('output_item.done', { item: call('a') }),
      on('output_item.done', { item: call('b') }),
      on('completed', { response: { output: [call('a'), call('b')] } }),
    ])
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    expect(done).toEqual(
      [0, 1].map((index) => on('output_item.done', { output_index: index, item: { ...call('ab'[index]!), id: 'ab'[index] } })),
    )
  })

  test('whose end has no output has the items that it showed', () => {
    const last = sequence(WHOLE.map((event) => (isObject(event['response']) ? { ...event, response: { status: 'completed' } } : event))).at(
      -1,
    )
    expect(isObject(last?.['response']) && objectsIn(last['response']['output'])).toEqual(OUTPUT)
  })

  test('that goes on for ever is held no further than 16 Mi characters, and then ends as its server ends it', () => {
    const end = on('completed', { response: { status: 'completed' } })
    const endedAfter = (length: number): readonly Json[] => {
      const complete = createSequence()
      for (const event of WHOLE.slice(0, -1).filter(({ type }) => !String(type).endsWith('done'))) complete(event, 100)
      complete(on('output_text.delta', at(1, { content_index: 0, delta: '.' })), length)
      return complete(end, 100)
    }
    expect(endedAfter(16 * 1024 * 1024)).toEqual([end])
    expect(endedAfter(100).length).toBeGreaterThan(5)
  })

  test('does not send arguments before the call has a name', () => {
    const events = sequence([
      on('function_call_arguments.delta', at(0, { delta: '{' })),
      on('output_item.done', { output_index: 0, item: CALL }),
    ])
    expect(events.map(({ type }) => String(type).replace('response.', ''))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
    ])
  })
})
