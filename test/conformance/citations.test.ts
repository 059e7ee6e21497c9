/** A source stands at the text that it is a source of, in UTF-16 units of the whole answer. */
import { describe, expect, test } from 'bun:test'

import { at } from '../support/json-at.ts'
import { streamEvents } from '../support/client-stream.ts'
import { recording } from '../support/recordings.ts'
import { replayReply } from '../support/replay.ts'

interface Place {
  readonly url: string
  readonly text: string
}

/** Anthropic tells a block's sources before its text: each is a source of the whole block. */
const told = (): Place[] => {
  const blocks = new Map<number, { text: string; urls: string[] }>()
  for (const payload of recording('anthropic', 'anthropic-web-search-tool.1', true).payloads) {
    const { type, index, delta } = JSON.parse(payload) as {
      type: string
      index: number
      delta: { text?: string; citation?: { url: string } }
    }
    if (type !== 'content_block_delta') continue
    const block = blocks.get(index) ?? { text: '', urls: [] }
    blocks.set(index, block)
    block.text += delta.text ?? ''
    if (delta.citation !== undefined) block.urls.push(delta.citation.url)
  }
  return [...blocks.values()].flatMap(({ text, urls }) => urls.map((url) => ({ url, text })))
}

interface Cited {
  readonly url: string
  readonly start_index: number
  readonly end_index: number
}
interface Delta {
  readonly content?: string
  readonly annotations?: readonly { readonly url_citation: Cited }[]
}
interface Item {
  readonly content?: readonly { readonly text: string; readonly annotations?: readonly Cited[] }[]
}

describe('sources told by Anthropic', () => {
  const reply = { type: 'text/event-stream', pieces: [recording('anthropic', 'anthropic-web-search-tool.1', true).bytes] } as const

  test('chat: each annotation covers the block that it was told for', async () => {
    let said = ''
    const found: { url: string; start_index: number; end_index: number }[] = []
    for (const { data } of streamEvents((await replayReply('chat', 'anthropic', reply)).text)) {
      const delta = at(data, 'choices', 0, 'delta') as Delta | undefined
      said += delta?.content ?? ''
      for (const { url_citation: citation } of delta?.annotations ?? []) found.push(citation)
    }
    expect(found.map(({ url, start_index: start, end_index: end }) => ({ url, text: said.slice(start, end) }))).toEqual(told())
  })

  test('responses: the same, by the text of its part', async () => {
    const last = streamEvents((await replayReply('responses', 'anthropic', reply)).text).at(-1)?.data
    const found: Place[] = []
    for (const { content = [] } of at(last, 'response', 'output') as Item[])
      for (const { text, annotations = [] } of content)
        for (const { url, start_index: start, end_index: end } of annotations) found.push({ url, text: text.slice(start, end) })
    expect(found).toEqual(told())
  })
})
