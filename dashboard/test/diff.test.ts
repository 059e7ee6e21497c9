import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { foldSame } from '../src/diff/fold-same.ts'
import { settingsDiff } from '../src/diff/settings-diff.ts'
import { seenPieces } from '../src/diff/unseen.ts'
import { wordDiff } from '../src/diff/word-diff.ts'

describe('the comparison of texts', () => {
  test('tells words that changed, and no more', () => {
    expect(wordDiff('Answer politely and briefly.', 'Answer briefly.')).toEqual([
      { kind: 'same', text: 'Answer ' },
      { kind: 'removed', text: 'politely and ' },
      { kind: 'same', text: 'briefly.' },
    ])
  })

  test('tells a sentence that was replaced as one change, though spaces in it stayed, and a long text within a moment', () => {
    expect(wordDiff('Be very kind.', 'Say no more.')).toEqual([
      { kind: 'removed', text: 'Be very kind' },
      { kind: 'added', text: 'Say no more' },
      { kind: 'same', text: '.' },
    ])
    const [one, other] = ['a ', 'b '].map((word) => `Begin ${word.repeat(70_000)}end`)
    expect(wordDiff(one ?? '', other ?? '').map(({ kind }) => kind)).toEqual(['same', 'removed', 'added', 'same'])
  })

  test('tells that a line went or came as a whole, though a word before it changed and the lines are alike', () => {
    const line = 'Cite the article.\n'
    const [long, short] = [`Version 12.\n${line.repeat(4)}`, `Version 11.\n${line.repeat(3)}`]
    const both = (text: string) => ({ kind: 'same' as const, text })
    const change = (removed: string, added: string) => [
      { kind: 'removed' as const, text: removed },
      { kind: 'added' as const, text: added },
    ]
    const end = both(line.repeat(3))
    expect(wordDiff(long, short)).toEqual([both('Version '), ...change('12', '11'), both('.\n'), { kind: 'removed', text: line }, end])
    expect(wordDiff(short, long)).toEqual([both('Version '), ...change('11', '12'), both('.\n'), { kind: 'added', text: line }, end])
  })

  test('tells that a line among lines that begin alike went or came as a whole', () => {
    const [long, short] = ['- Be kind.\n- Be brief.\n- Cite.\n', '- Be kind.\n- Cite.\n']
    const change = (kind: 'removed' | 'added') => [
      { kind: 'same' as const, text: '- Be kind.\n' },
      { kind, text: '- Be brief.\n' },
      { kind: 'same' as const, text: '- Cite.\n' },
    ]
    expect([wordDiff(long, short), wordDiff(short, long)]).toEqual([change('removed'), change('added')])
    expect(wordDiff('Use one.\nUse two.', 'Use two.')).toEqual([
      { kind: 'removed', text: 'Use one.\n' },
      { kind: 'same', text: 'Use two.' },
    ])
  })

  test.each(['', 'A line.\n'])('tells a word that changed, and no more, before %j and a line of thousands of words', (more) => {
    const line = `${'word '.repeat(3000)}\nEnd.`
    expect(wordDiff(`Old ${more}${line}`, `New ${more}${line}`)).toEqual([
      { kind: 'removed', text: 'Old' },
      { kind: 'added', text: 'New' },
      { kind: 'same', text: ` ${more}${line}` },
    ])
    expect(wordDiff(`Begin.\n${more}${line}`, `Begin.\nOne more.\n${more}${line}`).map(({ kind }) => kind)).toEqual([
      'same',
      'added',
      'same',
    ])
  })

  test('what is left of it without what was added is the first text, without what was removed the second', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', 'word', ' ', '\n', '…', '🙂'), { maxLength: 40 }).map((words) => words.join(''))
    fc.assert(
      fc.property(fc.oneof(texts, fc.string({ unit: 'binary' })), texts, (before, after) => {
        const pieces = wordDiff(before, after)
        const without = (kind: string): string =>
          pieces
            .filter((piece) => piece.kind !== kind)
            .map(({ text }) => text)
            .join('')
        expect([without('added'), without('removed')]).toEqual([before, after])
      }),
    )
  })
})

describe('what two texts have in common', () => {
  const lines = (from: number, to: number): string => Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`).join('\n')

  test('is folded but for the lines beside a change, and is whole where it is short', () => {
    expect(foldSame(lines(1, 20), true, false)).toEqual({ before: '', lines: 17, after: lines(18, 20) })
    expect(foldSame(lines(1, 20), false, false)).toEqual({ before: lines(1, 3), lines: 14, after: lines(18, 20) })
    expect(foldSame(lines(1, 20), false, true)).toEqual({ before: lines(1, 3), lines: 17, after: '' })
    expect(foldSame(lines(1, 9), false, false)).toBe(null)
    expect(foldSame(lines(1, 10), false, false)).toEqual({ before: lines(1, 3), lines: 4, after: lines(8, 10) })
  })
})

describe('the comparison of settings', () => {
  test('goes by key: neither their order nor the order of tools is a change', () => {
    const search = { type: 'function', function: { name: 'search', parameters: { type: 'object', properties: {} } } }
    const clock = { type: 'function', function: { name: 'clock' } }
    expect(settingsDiff({ model: 'm', tools: [search, clock] }, { tools: [clock, { ...search }], model: 'm' })).toEqual([])
    expect(
      settingsDiff({ stop: ['b', 'a'], format: { type: 't', strict: true } }, { stop: ['a', 'b'], format: { strict: true, type: 't' } }),
    ).toMatchObject([{ name: 'stop', before: JSON.stringify(['b', 'a'], null, 2) }])
    expect(settingsDiff({ temperature: 1, tools: [search] }, { temperature: 0.2, top_p: 1, tools: [] })).toEqual([
      { name: 'temperature', before: '1', after: '0.2' },
      { name: 'tools: search', before: expect.stringContaining('"search"'), after: null },
      { name: 'top_p', before: null, after: '1' },
    ])
  })
})

test('a change of a tool shows, also where another tool has its name', () => {
  const docs = { type: 'mcp', server_label: 'docs', server_url: 'https://docs.example.com' }
  const moved = { ...docs, server_url: 'https://elsewhere.example.com' }
  const mail = { type: 'mcp', server_label: 'mail' }
  expect(settingsDiff({ tools: [docs, mail] }, { tools: [moved, mail] }).map(({ name }) => name)).toEqual(['tools: docs'])
  expect(settingsDiff({ tools: [docs, mail, docs] }, { tools: [moved, mail, docs] }).map(({ name }) => name)).toEqual(['tools: docs'])
  expect(settingsDiff({ tools: [docs, docs] }, { tools: [docs] })).toMatchObject([{ name: 'tools: docs (2)', after: null }])
  expect(settingsDiff({ tools: [{}] }, { tools: [{ a: 1 }] })).toMatchObject([{ name: 'tools: unnamed' }])
})

describe('characters that nobody sees', () => {
  test.each([
    ['Pay \u202eyojnE', ['Pay ', 'U+202E', 'yojnE']],
    ['a\u200bb\u{e0041}c\u0007', ['a', 'U+200B', 'b', 'U+E0041', 'c', 'U+0007']],
    ['a\ufff9b\ufffa', ['a', 'U+FFF9', 'b', 'U+FFFA']],
    ['\u2066\u2069', ['U+2066', 'U+2069']],
    ['a\u{e0101}\uffa0', ['a', 'U+E0101', 'U+FFA0']],
  ])('are written out: %j', (text, pieces) => {
    expect(seenPieces(text).map((piece) => piece.text)).toEqual(pieces)
  })

  test('are none of those that lines, emoji and scripts are written with', () => {
    for (const text of ['one\n\ttwo\r\n', '👩‍👩‍👧 ❤️', 'می‌خواهم', 'שלום', ''])
      expect(seenPieces(text).every(({ isUnseen }) => !isUnseen)).toBe(true)
  })
})
