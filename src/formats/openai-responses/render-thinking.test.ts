import { describe, expect, test } from 'bun:test'

import {
  args,
  call,
  CLAUDE,
  finish,
  frames,
  GEMINI,
  HEAD,
  OPENAI,
  payloads,
  proven,
  reasoning,
  REDACTED,
  streamed,
  summary,
  text,
} from '../../../test/support/answers.ts'
import { openProof, sealProof, UNSIGNED } from '../../canonical/reasoning.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import {
  openStream,
  stream,
  render,
  message,
  thinking,
  textPart,
  callItem,
  textItem,
  callEvents,
  completed,
} from './render-stream.test-kit.ts'

describe('thinking in a stream', () => {
  test('reasoning, then text', () => {
    const place = '"item_id":"rs_abc123_0","output_index":0,"content_index":0'
    const item = (status: string, ...parts: string[]) =>
      `{"type":"reasoning","id":"rs_abc123_0","status":"${status}","summary":[],"content":[${parts.join(',')}]}`
    const part = '{"type":"reasoning_text","text":"hm"}'
    expect(render(reasoning('hm'), text('Hi'), finish('stop'))).toBe(
      stream(
        ['response.output_item.added', `"output_index":0,"item":${item('in_progress')}`],
        ['response.content_part.added', `${place},"part":{"type":"reasoning_text","text":""}`],
        ['response.reasoning_text.delta', `${place},"delta":"hm"`],
        ['response.reasoning_text.done', `${place},"text":"hm"`],
        ['response.content_part.done', `${place},"part":${part}`],
        ['response.output_item.done', `"output_index":0,"item":${item('completed', part)}`],
        ...textItem(1, ['Hi']),
        completed(item('completed', part), message('msg_abc123_1', 'completed', textPart('Hi'))),
      ),
    )
  })

  test('unsigned thinking has a mark in place of a proof if the client asks for one, in the finished item', () => {
    const head = { ...HEAD, request: JsonBody.read('{"include":["reasoning.encrypted_content"]}') }
    const ended = [reasoning('hm'), text('Hi'), finish('stop')]
    const said = streamed(openStream(head), frames(...ended))
    const item = thinking('rs_abc123_0', 'completed', { content: '{"type":"reasoning_text","text":"hm"}', encrypted: UNSIGNED })
    expect(said).toContain(`"type":"response.output_item.added","output_index":0,"item":${thinking('rs_abc123_0', 'in_progress')}`)
    expect(said).toContain(`"type":"response.output_item.done","output_index":0,"item":${item}`)
    expect(said).toContain(`"output":[${item},${message('msg_abc123_1', 'completed', textPart('Hi'))}]`)
    const sealed = thinking('rs_abc123_0', 'completed', { content: '{"type":"reasoning_text","text":"hm"}', encrypted: sealProof(OPENAI) })
    expect(streamed(openStream(head), frames(reasoning('hm'), proven(OPENAI), finish('stop')))).toContain(sealed)
  })

  test('a summary, whose proof closes its item', () => {
    const place = '"item_id":"rs_abc123_0","output_index":0,"summary_index":0'
    const done = thinking('rs_abc123_0', 'completed', { summary: '{"type":"summary_text","text":"hm"}', encrypted: sealProof(OPENAI) })
    expect(render(summary('h'), summary('m'), proven(OPENAI), finish('stop'))).toBe(
      stream(
        ['response.output_item.added', `"output_index":0,"item":${thinking('rs_abc123_0', 'in_progress')}`],
        ['response.reasoning_summary_part.added', `${place},"part":{"type":"summary_text","text":""}`],
        ['response.reasoning_summary_text.delta', `${place},"delta":"h"`],
        ['response.reasoning_summary_text.delta', `${place},"delta":"m"`],
        ['response.reasoning_summary_text.done', `${place},"text":"hm"`],
        ['response.reasoning_summary_part.done', `${place},"part":{"type":"summary_text","text":"hm"}`],
        ['response.output_item.done', `"output_index":0,"item":${done}`],
        completed(done),
      ),
    )
  })

  test('the own proof of a block without text stands in an item of its own id, as it came', () => {
    const item = (status: string) => thinking('rs_theirs', status, { encrypted: 'gAAAAB-_' })
    expect(render(proven(OPENAI), finish('stop'))).toBe(
      stream(
        ['response.output_item.added', `"output_index":0,"item":${item('in_progress')}`],
        ['response.output_item.done', `"output_index":0,"item":${item('completed')}`],
        completed(item('completed')),
      ),
    )
  })

  test('an own proof that names no item stands in any', () => {
    const { id: _, ...nameless } = OPENAI
    const part = '{"type":"reasoning_text","text":"hm"}'
    expect(render(reasoning('hm'), proven(nameless), finish('stop'))).toContain(
      `"item":${thinking('rs_abc123_0', 'completed', { content: part, encrypted: 'gAAAAB-_' })}`,
    )
  })

  test.each([CLAUDE, REDACTED, GEMINI])('a foreign proof travels sealed: %j', (proof) => {
    const part = '{"type":"reasoning_text","text":"hm"}'
    const events = payloads(render(reasoning('hm'), proven(proof), proven(proof), text('Hi'), finish('stop')))
    const items = events.at(-1)!.response.output
    // A signature carries the text that it vouches for, because clients of this dialect may drop the text.
    const first = sealProof(proof.kind === 'signature' ? { ...proof, text: 'hm' } : proof)
    expect(JSON.stringify(items.slice(0, 2))).toBe(
      `[${thinking('rs_abc123_0', 'completed', { content: part, encrypted: first })},` +
        `${thinking('rs_abc123_1', 'completed', { encrypted: sealProof(proof) })}]`,
    )
    expect(openProof(sealProof(proof))).toEqual(proof)
  })

  test('the proof of a tool call is a sealed item that names the call, ahead of it', () => {
    const item = (status: string) => thinking('rs_abc123_0', status, { encrypted: sealProof({ ...GEMINI, id: 'call_0' }) })
    expect(render(call(0, 'a', GEMINI), args(0, '{}'), finish('tool_calls'))).toBe(
      stream(
        ['response.output_item.added', `"output_index":0,"item":${item('in_progress')}`],
        ['response.output_item.done', `"output_index":0,"item":${item('completed')}`],
        ...callEvents(1, 0, 'a', ['{}']),
        completed(item('completed'), callItem('fc_abc123_1', 'completed', 0, 'a', '{}')),
      ),
    )
  })
})
