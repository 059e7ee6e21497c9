/** Puts sources on the answer: those that the last text names by their address, and those that were given with the question. */
import type { Frame, ModelEvent, TakeFrames } from '../canonical/event.ts'
import { PARAGRAPH_BREAK } from '../canonical/event.ts'
import type { ServerOutcome } from '../canonical/server-tools.ts'

type Source = ServerOutcome['sources'][number]

/** `given` are cited in any case. Tools add theirs as they end. The citations come before the finish, once each. */
export const citeSources = (take: TakeFrames, given: readonly Source[] = []): TakeFrames => {
  const sources = new Map<string, Source>()
  for (const source of given) sources.set(keyOf(source.url), source)
  /** The last text, and where in all of the answer's text it begins. */
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

  // A provider's own text of an answer would leave the citations out.
  return (frames) => take(frames.map(({ events }): Frame => ({ events: events.flatMap(withCitations) })))
}

const citation = ({ url, title }: Source, start: number | null, end: number | null): ModelEvent => ({
  type: 'citation',
  citation: { url, title, content: null, start, end },
})

/** Characters beyond this are not looked at. */
const TEXT_MAX = 1024 * 1024

const ADDRESS = /https?:\/\/[^\s<>"[\]|\\^`{}]{1,2048}/g
/** Signs that end a sentence or a link, and not an address, unless the address is known with them. */
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

/** An address with and without a slash at its end is one. */
const keyOf = (url: string): string => url.replace(/\/$/, '')
