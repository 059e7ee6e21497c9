import { describe, expect, test } from 'bun:test'

import type { Part } from '../../canonical/prompt.ts'
import { CLAUDE, encode, LLAMA, MISTRAL, NOVA, talk } from './encode.test-kit.ts'

const PALMYRA = 'us.writer.palmyra-x5-v1:0'
const KIMI = 'moonshotai.kimi-k2.5'
const picture: Part = { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' }
const pdf: Part = { type: 'file', url: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' }
const csv: Part = { type: 'file', url: 'data:text/csv;base64,YSxi', filename: 'a.csv' }

/** The kinds of blocks of each turn behind a call. */
const behindCall = (model: string, media: readonly Part[], ...more: readonly (Part | string)[]) => {
  const messages = talk(
    ['user', 'Go'],
    ['assistant', { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}' }],
    [
      'user',
      {
        type: 'tool-result',
        callId: 'c1',
        text: 'r',
        ...(media.length === 0 ? {} : { pieces: [{ type: 'text', text: 'r' } as const, ...media] }),
      },
      ...more,
    ],
  )
  const { sent, reported } = encode({ messages, tools: [{ type: 'function', name: 'f', description: null, parameters: {} }] }, { model })
  const turns = sent.messages.slice(2).map(({ role, content }) => [role, ...content.map(shape)])
  return { turns, apart: reported.includes('mapped_field messages[2]') }
}

const shape = (block: Readonly<Record<string, unknown>>): unknown => {
  const result = block['toolResult'] as { content: readonly object[] } | undefined
  if (result !== undefined) return result.content.flatMap((piece) => Object.keys(piece))
  return block['text'] ?? Object.keys(block)[0]
}

describe('beside the result of a tool', () => {
  test.each([
    [CLAUDE, false],
    [NOVA, false],
    [KIMI, false],
    [LLAMA, true],
    [MISTRAL, true],
    [PALMYRA, true],
  ])('%s gets the words of the user in the same turn, unless it refuses them: %j', (model, apart) => {
    expect(behindCall(model, [], 'And?')).toEqual({
      turns: apart
        ? [
            ['user', ['text']],
            ['assistant', 'OK'],
            ['user', 'And?'],
          ]
        : [['user', ['text'], 'And?']],
      apart,
    })
  })

  test('Claude gets pictures and PDFs in the same turn, and other documents in a turn of their own, beside a word', () => {
    expect(behindCall(CLAUDE, [], 'See', picture, pdf)).toEqual({ turns: [['user', ['text'], 'See', 'image', 'document']], apart: false })
    expect(behindCall(CLAUDE, [], 'See', csv)).toEqual({
      turns: [
        ['user', ['text']],
        ['assistant', 'OK'],
        ['user', 'See', 'document'],
      ],
      apart: true,
    })
    expect(behindCall(CLAUDE, [], csv).turns.at(-1)).toEqual(['user', 'Document:', 'document'])
  })
})

describe('in the result of a tool', () => {
  test.each([
    [CLAUDE, ['text', 'image', 'document'], []],
    [NOVA, ['text', 'image'], ['Returned by the tool f:', 'document']],
    [KIMI, ['text'], ['Returned by the tool f:', 'image', 'document']],
  ])('%s gets the media that it takes there, and the others behind it', (model, inside, behind) => {
    expect(behindCall(model, [picture, pdf])).toEqual({ turns: [['user', inside, ...behind]], apart: false })
  })

  test.each([MISTRAL, PALMYRA])('%s gets documents, and pictures in a turn of their own', (model) => {
    expect(behindCall(model, [pdf, picture])).toEqual({
      turns: [
        ['user', ['text', 'document']],
        ['assistant', 'OK'],
        ['user', 'Returned by the tool f:', 'image'],
      ],
      apart: true,
    })
  })
})
