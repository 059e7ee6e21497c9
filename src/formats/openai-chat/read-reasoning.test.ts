import { describe, expect, test } from 'bun:test'

import { sealProof } from '../../canonical/reasoning.ts'
import { JsonBody } from '../../lib/json-body.ts'
import { atOnce } from '../../lib/steps.ts'
import { parsePrompt } from './parse-prompt.ts'

const parts = (message: object) =>
  atOnce(parsePrompt(JsonBody.read(JSON.stringify({ messages: [{ role: 'assistant', ...message }] })))).messages[0]?.parts
const details = (...list: object[]) => parts({ content: null, reasoning_details: list })

const claude = { format: 'anthropic-claude-v1' } as const
const openai = { format: 'openai-responses-v1' } as const
const google = { format: 'google-gemini-v1' } as const
const signature = (data: string) => ({ ...claude, kind: 'signature' as const, data })

describe('reasoning_details', () => {
  test('win over the text that repeats them, and keep their order', () => {
    expect(
      parts({
        content: null,
        reasoning: 'ab',
        reasoning_details: [
          { type: 'reasoning.text', text: 'a', signature: 's1', ...claude, index: 0 },
          { type: 'reasoning.encrypted', data: 'x', ...claude, index: 1 },
          { type: 'reasoning.text', text: 'b', signature: 's2', ...claude, index: 2 },
        ],
      }),
    ).toEqual([
      { type: 'reasoning', text: 'a', proof: signature('s1') },
      { type: 'reasoning', text: '', proof: { ...claude, kind: 'encrypted', data: 'x' } },
      { type: 'reasoning', text: 'b', proof: signature('s2') },
    ])
  })

  test('the pieces of a stream are one block: by index, by id, or because they follow each other', () => {
    const claudeBlock = [{ type: 'reasoning', text: ' two words', proof: signature('s') }]
    expect(
      details(
        { type: 'reasoning.text', text: ' two', index: 0 },
        { type: 'reasoning.text', text: ' words', index: 0 },
        { type: 'reasoning.text', text: '', signature: 's', ...claude, index: 0 },
      ),
    ).toEqual(claudeBlock as never)
    const proof = { ...openai, kind: 'encrypted', data: 'x', id: 'rs_1' }
    const openaiBlock = [{ type: 'reasoning', text: 'sum', summary: true, proof }]
    const sealed = { type: 'reasoning.encrypted', data: 'x', id: 'rs_1', ...openai }
    const summary = { type: 'reasoning.summary', summary: 'sum', ...openai }
    expect(details({ ...summary, index: 0 }, { ...sealed, index: 0 })).toEqual(openaiBlock as never)
    expect(details({ ...summary, id: 'rs_1' }, sealed)).toEqual(openaiBlock as never)
    expect(details(sealed, { ...summary, id: 'rs_1' })).toEqual(openaiBlock as never)
    expect(details({ ...summary, id: null }, sealed)).toEqual(openaiBlock as never)
  })

  test('blocks of the same index that have their proofs stay apart', () => {
    expect(
      details(
        { type: 'reasoning.text', text: 'a', signature: 's1', ...claude, index: 0 },
        { type: 'reasoning.text', text: 'b', signature: 's2', ...claude, index: 0 },
        { type: 'reasoning.encrypted', data: 'x', ...claude, index: 0 },
      ),
    ).toMatchObject([{ text: 'a' }, { text: 'b' }, { text: '' }])
  })

  test('a signature without a format is Claude’s; a proof of a format that nobody here knows is told as unknown', () => {
    expect(
      details(
        { type: 'reasoning.text', text: 'a', signature: 's' },
        { type: 'reasoning.encrypted', data: 'x', format: 'xai-responses-v1', id: 'r' },
        { type: 'reasoning.server_tool_call', tool_name: 't' },
      ),
    ).toEqual([
      { type: 'reasoning', text: 'a', proof: { format: 'anthropic-claude-v1', kind: 'signature', data: 's' } },
      { type: 'unknown', kind: 'reasoning.encrypted', at: 'messages[0].reasoning_details[1]' },
      { type: 'unknown', kind: 'reasoning.server_tool_call', at: 'messages[0].reasoning_details[2]' },
    ])
  })

  test('a sealed proof is opened', () => {
    const proof = { ...openai, kind: 'encrypted', data: 'x', id: 'rs_1', model: 'openai/gpt-5.4' } as const
    expect(details({ type: 'reasoning.encrypted', data: sealProof(proof), format: 'unknown' })).toEqual([
      { type: 'reasoning', text: '', proof },
    ])
  })
})

test('reasoning, or what a vendor calls it, where there are no details', () => {
  expect(parts({ content: 'c', reasoning: 'r', reasoning_details: [] })).toEqual([
    { type: 'reasoning', text: 'r' },
    { type: 'text', text: 'c' },
  ])
  expect(parts({ reasoning_content: 'r' })).toEqual([{ type: 'reasoning', text: 'r' }])
})

describe('the proof of a tool call', () => {
  const call = (id: string, more: object = {}) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' }, ...more })
  const proven = (id: string, data: string) => ({
    type: 'tool-call' as const,
    id,
    name: 'f',
    arguments: '{}',
    proof: { ...google, kind: 'signature' as const, data },
  })

  test('stands with the call in Google’s own form of the dialect', () => {
    const extra = { extra_content: { google: { thought_signature: 'g' } } }
    expect(parts({ content: null, tool_calls: [call('c1', extra)] })).toEqual([proven('c1', 'g')])
  })

  test('stands among the details under the id of the call, also beside thinking of the same index', () => {
    expect(
      parts({
        content: null,
        reasoning_details: [
          { type: 'reasoning.text', text: 't', ...google, index: 0 },
          { type: 'reasoning.encrypted', data: 'g2', id: 'c2', ...google, index: 0 },
        ],
        tool_calls: [call('c1'), call('c2')],
      }),
    ).toEqual([{ type: 'reasoning', text: 't' }, { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}' }, proven('c2', 'g2')])
  })
})
