/** Adds citations to the answer: for sources whose address the last text names, and for sources that were given with the question. */
import type { Frame, ModelEvent, TakeFrames } from '../canonical/event.ts'
import { PARAGRAPH_BREAK } from '../canonical/event.ts'
import type { ServerOutcome } from '../canonical/server-tools.ts'

type Source = ServerOutcome['sources'][number]

/** `given` sources are always cited. Sources of tools are added as the tools end. Each source is cited once, before the finish event. */
export const citeSources = (take: TakeFrames, given: readonly Source[] = []): TakeFrames => {
  const sources = new Map<string, Source>()
  for (const source of given) sources.set(keyOf(source.url), source)
  /** The last text, and the position in the whole answer's text at which it begins. */
  let text = ''
  let textStart = 0
  let length = 0

  const begin = (): void => {
    text = ''
    textStart = length
  }

  const citations = (): readonly ModelEvent[] => {
    const cited = new Map<string, ModelEvent>()
    for (const { key, start, end } of addressesIn(text, sources)) {
      const source = sources.get(key)
      if (source === undefined || cited.has(key)) continue
      cited.set(key, citation(source, textStart + start, textStart + end))
    }
    for (const source of given) {
      const key = keyOf(source.url)
      if (!cited.has(key)) cited.set(key, citation(source, null, null))
    }
    return [...cited.values()]
  }

  const withCitations = (event: ModelEvent): readonly ModelEvent[] => {
    if (event.type === 'finish') return sources.size === 0 || length === 0 ? [event] : [...citations(), event]
    if (event.type === 'text') {
      length += event.text.length
      if (text.length < TEXT_MAX) text += event.text
    } else if (event.type === 'text-break') {
      length += PARAGRAPH_BREAK.length
      begin()
    } else if (event.type === 'server-tool-start') begin()
    else if (event.type === 'server-tool-end') for (const source of event.outcome.sources) sources.set(keyOf(source.url), source)
    return [event]
  }

  // A provider's own JSON of the answer would lack the citations, so `native` is dropped.
  return (frames) => take(frames.map(({ events }): Frame => ({ events: events.flatMap(withCitations) })))
}

const citation = ({ url, title }: Source, start: number | null, end: number | null): ModelEvent => ({
  type: 'citation',
  citation: { url, title, content: null, start, end },
})

/** The maximum number of characters in which addresses are searched. */
const TEXT_MAX = 1024 * 1024

const ADDRESS = /https?:\/\/[^\s<>"[\]|\\^`{}]{1,2048}/g
/** How many trailing characters may be cut off an address: those that end a sentence or a link, unless the address is known with them. */
const ENDS_MAX = 8

function* addressesIn(
  text: string,
  sources: ReadonlyMap<string, Source>,
): Generator<{ readonly key: string; readonly start: number; readonly end: number }> {
  if (sources.size === 0) return
  for (const { 0: written, index } of text.matchAll(ADDRESS)) {
    let address = written
    for (let cut = 0; cut <= ENDS_MAX; cut += 1) {
      const key = keyOf(address)
      if (sources.has(key)) {
        yield { key, start: index, end: index + address.length }
        break
      }
      if (!/[).,;:!?'*_~]$/.test(address)) break
      address = address.slice(0, -1)
    }
  }
}

/** An address with a slash at its end and the same one without it count as one. */
const keyOf = (url: string): string => url.replace(/\/$/, '')
