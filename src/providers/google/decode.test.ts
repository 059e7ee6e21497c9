import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { ModelEvent } from '../../canonical/event.ts'
import { usageOf } from '../../canonical/usage.ts'
import { createGoogleDecoder } from './decode.ts'

const MODEL = 'google/gemini-3.5-flash'

const chunk = (parts: readonly object[], more: object = {}, top: object = {}): Record<string, unknown> => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  responseId: 'r-1',
  modelVersion: 'gemini-3.5-flash',
  ...top,
})

/** The events after the start. */
const decode = (...chunks: readonly Record<string, unknown>[]): ModelEvent[] => {
  const decoder = createGoogleDecoder(MODEL)
  return chunks.flatMap((one) => decoder.events(one)).slice(1)
}

const proof = (data: string) => ({ format: 'google-gemini-v1', kind: 'signature', data, model: MODEL }) as const

describe('parts', () => {
  test('the answer begins once, with its names', () => {
    const decoder = createGoogleDecoder(MODEL)
    expect([...decoder.events(chunk([])), ...decoder.events(chunk([]))]).toEqual([{ type: 'start', upstreamId: 'r-1' }])
  })

  test.each<[string, object, readonly ModelEvent[]]>([
    ['text', { text: 'a' }, [{ type: 'text', text: 'a' }]],
    ['empty text', { text: '' }, []],
    ['a thought', { text: 'a', thought: true }, [{ type: 'reasoning', text: 'a' }]],
    [
      'a signed thought',
      { text: 'a', thought: true, thoughtSignature: 'S' },
      [
        { type: 'reasoning', text: 'a' },
        { type: 'reasoning-end', proof: proof('S') },
      ],
    ],
    [
      'signed text',
      { text: 'a', thoughtSignature: 'S' },
      [
        { type: 'text', text: 'a' },
        { type: 'reasoning-end', proof: proof('S') },
      ],
    ],
    ['a signature alone', { text: '', thoughtSignature: 'S' }, [{ type: 'reasoning-end', proof: { ...proof('S'), id: 'behind_text' } }]],
    ['an image', { inlineData: { mimeType: 'image/png', data: 'QQ==' } }, [{ type: 'image', url: 'data:image/png;base64,QQ==' }]],
    ['a draft of an image', { inlineData: { mimeType: 'image/png', data: 'QQ==' }, thought: true }, [{ type: 'unknown', kind: 'thought' }]],
    ['sound', { inlineData: { mimeType: 'audio/wav', data: 'QQ==' } }, [{ type: 'unknown', kind: 'inlineData', characters: 1 }]],
    ['code', { executableCode: { language: 'PYTHON', code: '1' } }, [{ type: 'unknown', kind: 'executableCode' }]],
    ['what code said', { codeExecutionResult: { outcome: 'OUTCOME_OK' } }, [{ type: 'unknown', kind: 'codeExecutionResult' }]],
    ['nothing', {}, []],
  ])('%s', (_, part, events) => {
    expect(decode(chunk([part]), chunk([], { finishReason: 'STOP' }))).toEqual([...events])
  })

  test('calls are dense, whole, with ids of Google’s or of the answer’s', () => {
    expect(
      decode(
        chunk([{ functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'S' }]),
        chunk([{ functionCall: { id: 'own', name: 'g' } }, { functionCall: { name: 'h', args: {} } }]),
      ),
    ).toEqual([
      { type: 'tool-call', index: 0, id: 'call_r-1_0', name: 'f', proof: proof('S') },
      { type: 'tool-arguments', index: 0, json: '{"a":1}' },
      { type: 'tool-call', index: 1, id: 'own', name: 'g' },
      { type: 'tool-arguments', index: 1, json: '{}' },
      { type: 'tool-call', index: 2, id: 'call_r-1_2', name: 'h' },
      { type: 'tool-arguments', index: 2, json: '{}' },
    ])
  })

  test('only the first candidate is read', () => {
    const two = {
      candidates: [
        { index: 1, content: { parts: [{ text: 'no' }] } },
        { index: 0, content: { parts: [{ text: 'yes' }] } },
      ],
    }
    expect(decode(two)).toEqual([{ type: 'text', text: 'yes' }])
  })

  test('log probabilities come in the form of chat', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'é', tokenId: 7, logProbability: -0.5 }],
      topCandidates: [
        {
          candidates: [
            { token: 'é', logProbability: -0.5 },
            { token: 'e', logProbability: -2 },
          ],
        },
      ],
    }
    expect(decode(chunk([{ text: 'é' }], { logprobsResult }))[1]).toEqual({
      type: 'logprobs',
      content: [
        {
          token: 'é',
          logprob: -0.5,
          bytes: [195, 169],
          top_logprobs: [
            { token: 'é', logprob: -0.5, bytes: [195, 169] },
            { token: 'e', logprob: -2, bytes: [101] },
          ],
        },
      ],
    })
  })
})

describe('the end', () => {
  const endOf = (finishReason: string, parts: readonly object[] = [{ text: 'a' }]) => {
    const decoder = createGoogleDecoder(MODEL)
    decoder.events(chunk(parts, { finishReason, finishMessage: 'm' }))
    return decoder.ending()?.reason
  }
  const call = [{ functionCall: { name: 'f' } }]

  test.each<[string, ReturnType<typeof endOf>]>([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['ESCALATION', 'content_filter'],
    ['CONTINUATION', 'length'],
    ['PUP_LIMITED_DISABLED', null],
    ['MALFORMED_FUNCTION_CALL', null],
    ['UNEXPECTED_TOOL_CALL', null],
    ['MISSING_THOUGHT_SIGNATURE', null],
    ['OTHER', 'stop'],
    ['FINISH_REASON_UNSPECIFIED', undefined],
    ['', undefined],
  ])('%s', (native, reason) => {
    expect(endOf(native)).toBe(reason)
  })

  test('after calls is one of calls; for no reason and with nothing said, a failure', () => {
    expect([endOf('STOP', call), endOf('MAX_TOKENS', call), endOf('OTHER', []), endOf('STOP', [])]).toEqual([
      'tool_calls',
      'length',
      null,
      'stop',
    ])
  })

  test('told in every chunk, as older models do, is the last one', () => {
    const decoder = createGoogleDecoder(MODEL)
    expect(decoder.ending()).toBeNull()
    decoder.events(chunk([{ text: 'a' }], { finishReason: 'STOP' }))
    decoder.events(chunk([{ text: 'b' }], { finishReason: 'MAX_TOKENS' }))
    expect(decoder.ending()).toEqual({ reason: 'length', native: 'MAX_TOKENS', message: null })
  })
})

describe('sources', () => {
  const web = (n: number) => ({ web: { uri: `https://s.example/${n}`, title: `S${n}` } })
  const source = (n: number, start: number | null, end: number | null): ModelEvent => ({
    type: 'citation',
    citation: { url: `https://s.example/${n}`, title: `S${n}`, content: null, start, end },
  })
  const support = (startIndex: number | undefined, endIndex: number, text: string | undefined, ...groundingChunkIndices: number[]) => ({
    segment: { startIndex, endIndex, text },
    groundingChunkIndices,
  })

  test('point to characters where Google counts bytes, over chunks, once each', () => {
    const groundingMetadata = {
      webSearchQueries: ['q', 'r'],
      groundingChunks: [web(0), web(1), web(2)],
      groundingSupports: [support(undefined, 6, 'Grüß', 0), support(7, 12, 'Welt!', 1, 0)],
    }
    const last = chunk([{ text: 'elt!' }], { groundingMetadata }, { usageMetadata: { promptTokenCount: 1 } })
    expect(decode(chunk([{ text: 'Grüß W' }]), last, last).slice(1, 7)).toEqual([
      { type: 'text', text: 'elt!' },
      source(0, 0, 4),
      source(1, 5, 10),
      source(0, 5, 10),
      source(2, null, null),
      { type: 'usage', usage: usageOf({ inputFresh: 1, webSearches: 2, unreportedOutput: true }) },
    ])
    expect(decode(chunk([{ text: 'Grüß W' }]), last, last).filter(({ type }) => type === 'citation')).toHaveLength(4)
  })

  test('each different query is a search; of models that are charged by the prompt all of them are one', () => {
    const last = (...webSearchQueries: string[]) =>
      chunk([{ text: 'a' }], { groundingMetadata: { webSearchQueries } }, { usageMetadata: { promptTokenCount: 1 } })
    const searches = (byPrompt: boolean, ...chunks: readonly Record<string, unknown>[]) => {
      const decoder = createGoogleDecoder(MODEL, byPrompt)
      return chunks.flatMap((one) => decoder.events(one)).findLast((event) => event.type === 'usage')?.usage.webSearches
    }
    expect(searches(false, last('q'), last('q', 'r', 'q', ''))).toBe(2)
    expect(searches(true, last('q', 'r'))).toBe(1)
    expect(searches(true, last())).toBe(0)
  })

  test('point where their quotation stands, or nowhere, when the count is off', () => {
    const groundingMetadata = {
      groundingChunks: [web(0), web(1), { web: {} }, null],
      groundingSupports: [support(0, 2, 'cd', 0), support(0, 2, 'zz', 1, 2, 9)],
    }
    expect(decode(chunk([{ text: 'abcd' }], { groundingMetadata })).slice(1)).toEqual([source(0, 2, 4), source(1, null, null)])
  })

  test.each<[string, readonly (readonly object[])[], ModelEvent['type']]>([
    ['the signature of the text', [[{ text: 'abcd', thoughtSignature: 'S' }]], 'reasoning-end'],
    ['a signature in the last chunk', [[{ text: 'abcd' }], [{ text: '', thoughtSignature: 'S' }]], 'reasoning-end'],
    ['a signature in an earlier chunk', [[{ text: 'abcd' }], [{ text: '', thoughtSignature: 'S' }], []], 'reasoning-end'],
    ['the signature of the text in an earlier chunk', [[{ text: 'abcd', thoughtSignature: 'S' }], []], 'reasoning-end'],
    ['a call', [[{ text: 'abcd' }, { functionCall: { name: 'f' } }]], 'tool-call'],
  ])('come before %s, which ends the text', (_, chunks, next) => {
    const groundingMetadata = { groundingChunks: [web(0)], groundingSupports: [support(0, 4, 'abcd', 0)] }
    const events = decode(
      ...chunks.map((parts, index) => chunk(parts, index === chunks.length - 1 ? { groundingMetadata, finishReason: 'STOP' } : {})),
    )
    const place = events.findIndex(({ type }) => type === 'citation')
    expect([events[place - 1]?.type, events[place], events[place + 1]?.type]).toEqual(['text', source(0, 0, 4), next])
  })

  test('quoted works are sources', () => {
    const citationMetadata = {
      citationSources: [
        { startIndex: 1, endIndex: 3, uri: 'https://s.example/q' },
        { startIndex: 0, endIndex: 1 },
      ],
    }
    expect(decode(chunk([{ text: 'abcd' }], { citationMetadata }))[1]).toEqual({
      type: 'citation',
      citation: { url: 'https://s.example/q', title: null, content: null, start: 1, end: 3 },
    })
  })
})

test('what only describes a part is none that is lost', () => {
  const described = ['documentMetadata', 'spreadsheetMetadata', 'audioMetadata', 'videoMetadata', 'partMetadata']
  const events = decode(chunk([{ text: 'ab' }, ...described.map((member) => ({ [member]: {} }))]))
  expect(events).toEqual([{ type: 'text', text: 'ab' }])
})

test('nothing that JSON can hold breaks the decoder', () => {
  const member = fc.constantFrom(
    'candidates',
    'content',
    'parts',
    'text',
    'functionCall',
    'inlineData',
    'groundingMetadata',
    'groundingChunks',
    'groundingSupports',
    'segment',
    'usageMetadata',
    'logprobsResult',
    'chosenCandidates',
  )
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom(null, 0, 'x', true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(member, tie('value'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(fc.property(fc.dictionary(member, value), (any) => expect(decode(any)).toBeArray()))
})
