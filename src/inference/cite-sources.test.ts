import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import type { ModelEvent } from '../canonical/event.ts'
import type { ServerCall } from '../canonical/server-tools.ts'
import { citeSources } from './cite-sources.ts'

const URLS = ['https://a.example/x', 'https://b.example/y_(z)', 'https://c.example/'] as const
const SOURCES = URLS.map((url, index) => ({ url, title: `Title ${index}` }))
const CALL = {} as ServerCall

const said = (text: string): ModelEvent => ({ type: 'text', text })
const ended: ModelEvent = {
  type: 'server-tool-end',
  call: CALL,
  outcome: { fault: null, value: {}, text: '', sources: SOURCES },
}
const FINISH: ModelEvent = { type: 'finish', reason: 'stop', native: null }

/** For each citation its address, and the text at the cited position. */
const cited = (events: readonly ModelEvent[], given: typeof SOURCES = []): readonly (readonly [string, string | null])[] => {
  const out: ModelEvent[] = []
  const take = citeSources((frames) => void out.push(...frames.flatMap((frame) => frame.events)), given)
  for (const event of events) void take([{ events: [event] }])
  const text = out.map((event) => (event.type === 'text' ? event.text : event.type === 'text-break' ? '\n\n' : '')).join('')
  return out.flatMap((event) => {
    if (event.type !== 'citation') return []
    const { url, start, end } = event.citation
    return [[url, start === null || end === null ? null : text.slice(start, end)] as const]
  })
}

describe('citations', () => {
  test.each<[string, readonly string[]]>([
    ['See https://a.example/x.', ['https://a.example/x']],
    ['[a](https://a.example/x), *https://c.example*', ['https://a.example/x', 'https://c.example']],
    ['(see https://b.example/y_(z))', ['https://b.example/y_(z)']],
    ['https://a.example/xy and https://a.example', []],
    ['https://a.example/x https://a.example/x', ['https://a.example/x']],
  ])('%j cites %j, each once and at its place', (text, written) => {
    expect(cited([ended, said(text), FINISH]).map(([, place]) => place)).toEqual([...written])
  })

  test('the last text counts, and its places are those in all of the answer', () => {
    const events = [
      said(`First ${URLS[0]}`),
      ended,
      { type: 'text-break' } as const,
      said('Then https://b.exa'),
      said('mple/y_(z) it is.'),
      FINISH,
    ]
    expect(cited(events)).toEqual([[URLS[1], URLS[1]]])
  })

  test('what was given with the question is cited in any case, with its place where the text names it', () => {
    expect(cited([said(`Of ${URLS[1]}`), FINISH], SOURCES)).toEqual([
      [URLS[1], URLS[1]],
      [URLS[0], null],
      [URLS[2], null],
    ])
  })

  test('an answer without text, or without an end, cites nothing', () => {
    expect(cited([ended, FINISH], SOURCES)).toEqual([])
    expect(cited([ended, said(URLS[0])])).toEqual([])
  })

  test('property: however a text is cut into pieces, it cites the same', () => {
    const word = fc.constantFrom(...URLS, ' ', '.', ')', 'and', '\n', '[', 'https://', 'x')
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), fc.array(fc.nat(5), { minLength: 1 }), (words, sizes) => {
        const text = words.join('')
        const pieces: ModelEvent[] = []
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const size = (sizes[turn % sizes.length] ?? 0) + 1
          pieces.push(said(text.slice(at, at + size)))
          at += size
        }
        expect(cited([ended, ...pieces, FINISH])).toEqual(cited([ended, said(text), FINISH]))
      }),
    )
  })
})
