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
  proven,
  reasoning,
  REDACTED,
  summary,
  text,
} from '../../../test/support/answers.ts'
import { sealProof, UNSIGNED } from '../../canonical/reasoning.ts'
import { end, frame, openStream, redacted, render, start, textBlock, thinkingBlock, toolBlock } from './render-stream.test-kit.ts'

describe('thinking in a stream', () => {
  test('thinking that nobody signed has a signature that says so: clients take a block without one for broken', () => {
    const signed = frame('content_block_delta', `,"index":0,"delta":{"type":"signature_delta","signature":"${UNSIGNED}"}`)
    expect(render(reasoning('hm'), text('Hi'), finish('stop'))).toBe(
      start() + thinkingBlock(0, ['hm'], signed) + textBlock(1, 'Hi') + end('end_turn'),
    )
  })

  test('the signature of thinking comes before its block closes: an own one as it is, a foreign one sealed', () => {
    for (const [proof, signature] of [
      [CLAUDE, CLAUDE.data],
      [OPENAI, sealProof(OPENAI)],
      [GEMINI, sealProof(GEMINI)],
    ] as const) {
      const signed = frame('content_block_delta', `,"index":0,"delta":{"type":"signature_delta","signature":"${signature}"}`)
      expect(render(summary('hm'), proven(proof), text('Hi'), finish('stop'))).toBe(
        start() + thinkingBlock(0, ['hm'], signed) + textBlock(1, 'Hi') + end('end_turn'),
      )
    }
  })

  test('a signature is sent with the frame that brings it', () => {
    const stream = openStream(HEAD)
    stream.frames(frames(reasoning('hm')))
    expect(stream.frames(frames(proven(CLAUDE)))).toBe(
      frame('content_block_delta', `,"index":0,"delta":{"type":"signature_delta","signature":"${CLAUDE.data}"}`) +
        frame('content_block_stop', ',"index":0'),
    )
  })

  test('two blocks of thinking, one after the other, keep their signatures', () => {
    const signed = (index: number) =>
      frame('content_block_delta', `,"index":${index},"delta":{"type":"signature_delta","signature":"${CLAUDE.data}"}`)
    expect(render(reasoning('a'), proven(CLAUDE), reasoning('b'), proven(CLAUDE), finish('stop'))).toBe(
      start() + thinkingBlock(0, ['a'], signed(0)) + thinkingBlock(1, ['b'], signed(1)) + end('end_turn'),
    )
  })

  test('thinking that is not shown: an empty text with its signature, or a redacted block', () => {
    const signed = frame('content_block_delta', `,"index":0,"delta":{"type":"signature_delta","signature":"${CLAUDE.data}"}`)
    expect(render(proven(CLAUDE), proven(null), proven(REDACTED), proven(OPENAI), finish('stop'))).toBe(
      start() + thinkingBlock(0, [], signed) + redacted(1, REDACTED.data) + redacted(2, sealProof(OPENAI)) + end('end_turn'),
    )
  })

  test('the proof of a tool call is a sealed block that names the call, directly before it', () => {
    const proof = sealProof({ ...GEMINI, id: 'call_1' })
    expect(render(call(0, 'a'), call(1, 'b', GEMINI), args(0, '{}'), args(1, '{}'), finish('tool_calls'))).toBe(
      start() + toolBlock(0, 0, 'a', '{}') + redacted(1, proof) + toolBlock(2, 1, 'b', '{}') + end('tool_use'),
    )
  })
})
