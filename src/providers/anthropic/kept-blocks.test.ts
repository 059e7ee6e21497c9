import { describe, expect, test } from 'bun:test'

import { KeptBlocks } from './kept-blocks.ts'

const SEARCH = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
const FOUND = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }

const kept = (...steps: readonly (readonly [index: number, delta: boolean, value: unknown])[]): ReturnType<KeptBlocks['blocks']> => {
  const blocks = new KeptBlocks()
  for (const [index, isDelta, value] of steps) {
    if (isDelta) blocks.grow(index, value)
    else blocks.open(index, value)
  }
  return blocks.blocks()
}

describe('a turn in which tools of Claude’s own were at work', () => {
  test('is kept to the byte of its inputs, in the order of its blocks, with the calls that are open', () => {
    const input = '{"query" : "q", "size":12345678901234567890}'
    const blocks = kept([1, false, FOUND], [0, false, SEARCH], [0, true, { type: 'input_json_delta', partial_json: input }])
    expect(blocks).toEqual([
      {
        type: 'server_tool_use',
        json: `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":${input}}`,
        calls: 'srvtoolu_1',
      },
      { type: 'web_search_tool_result', json: JSON.stringify(FOUND), answers: 'srvtoolu_1' },
    ])
  })

  test('is kept with its thinking and its sources, and without text that nobody sees', () => {
    const blocks = kept(
      [0, false, { type: 'thinking', thinking: '', signature: '' }],
      [0, true, { type: 'thinking_delta', thinking: 'Hm.' }],
      [0, true, { type: 'signature_delta', signature: 's' }],
      [1, false, { type: 'text', text: ' \n' }],
      [2, false, FOUND],
      [3, false, { type: 'text', text: '', citations: [] }],
      [3, true, { type: 'citations_delta', citation: { encrypted_index: 'x' } }],
      [3, true, { type: 'text_delta', text: 'Small.' }],
    )
    expect(blocks?.map(({ json }) => JSON.parse(json) as unknown)).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      FOUND,
      { type: 'text', text: 'Small.', citations: [{ encrypted_index: 'x' }] },
    ])
  })
})

test('a turn without tools of Claude’s own is not kept', () => {
  expect(
    kept([0, false, { type: 'text', text: 'Hi.' }], [1, false, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }]),
  ).toBeUndefined()
})

test.each([
  ['a piece of a kind that nobody knows', { type: 'new_delta' }],
  ['an input that is no JSON object', { type: 'input_json_delta', partial_json: '{"query' }],
])('a turn with %s is not kept, since it would go back changed', (_, delta) => {
  expect(kept([0, false, SEARCH], [0, true, delta])).toBeUndefined()
})
