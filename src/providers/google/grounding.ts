/** Reads the sources of an answer: those of its web search, and those of its quotations. */
import type { UrlCitation } from '../../canonical/prompt.ts'
import { isObject, listOf, objectsIn } from '../../lib/json/json.ts'
import { createTextPlaces, type TextPlaces } from './text-places.ts'

type Json = Readonly<Record<string, unknown>>

export interface SourceReader {
  /** Call it with each text of the answer, since sources point into that text. */
  said(text: string): void
  /** The sources of a candidate that were not reported before. */
  citations(candidate: Json): UrlCitation[]
  /** The number of searches made so far. */
  readonly searches: number
}

export const createSourceReader = (): SourceReader => {
  const places = createTextPlaces()
  /** Google charges for each different query (its guide "Grounding with Google Search", "Pricing"). */
  const queries = new Set<unknown>()
  const reported = new Set<string>()

  const fresh = (citations: readonly UrlCitation[]): UrlCitation[] =>
    citations.filter((citation) => {
      const key = JSON.stringify([citation.url, citation.start, citation.end])
      if (reported.has(key) || (citation.start === null && reported.has(citation.url))) return false
      reported.add(key).add(citation.url)
      return true
    })

  return {
    said: places.add,
    citations(candidate) {
      const metadata = isObject(candidate['groundingMetadata']) ? candidate['groundingMetadata'] : {}
      for (const query of listOf(metadata['webSearchQueries'])) if (query !== '') queries.add(query)
      return fresh([...groundingCitations(metadata, places), ...quotations(candidate['citationMetadata'], places)])
    },
    get searches() {
      return queries.size
    },
  }
}

const groundingCitations = (metadata: Json, places: TextPlaces): UrlCitation[] => {
  const sources = listOf(metadata['groundingChunks']).map(sourceOf)
  const supports = objectsIn(metadata['groundingSupports'])
  if (sources.length === 0) return []
  const supported = supports.flatMap((support) => {
    const place = placeOf(isObject(support['segment']) ? support['segment'] : {}, places)
    return listOf(support['groundingChunkIndices']).flatMap((index) => {
      const source = typeof index === 'number' ? sources[index] : undefined
      return source === undefined || source === null ? [] : [{ ...source, content: null, ...place }]
    })
  })
  return [...supported, ...sources.flatMap((source) => (source === null ? [] : [{ ...source, content: null, ...NOWHERE }]))]
}

/** The source may be a page, a picture's page, a document with an address, or a place on the map; null for one without an address. */
const sourceOf = (chunk: unknown): { url: string; title: string | null } | null => {
  if (!isObject(chunk)) return null
  for (const kind of ['web', 'image', 'retrievedContext', 'maps']) {
    const source = chunk[kind]
    const url = isObject(source) ? (source['uri'] ?? source['sourceUri']) : undefined
    if (isObject(source) && typeof url === 'string' && /^https?:/i.test(url))
      return { url, title: typeof source['title'] === 'string' ? source['title'] : null }
  }
  return null
}

const quotations = (metadata: unknown, places: TextPlaces): UrlCitation[] =>
  objectsIn(isObject(metadata) ? (metadata['citationSources'] ?? metadata['citations']) : undefined).flatMap((source) => {
    const { uri, title } = source
    return typeof uri === 'string' && uri !== ''
      ? [{ url: uri, title: typeof title === 'string' ? title : null, content: null, ...placeOf(source, places) }]
      : []
  })

const NOWHERE = { start: null, end: null }

/** Google's indices count UTF-8 bytes, and only within one part; the quoted text shows whether they are right for the whole text. */
const placeOf = (segment: Json, places: TextPlaces): { start: number | null; end: number | null } => {
  const { startIndex = 0, endIndex, text: quoted } = segment
  if (typeof startIndex !== 'number' || typeof endIndex !== 'number' || startIndex < 0 || endIndex < startIndex) return NOWHERE
  const [start, end] = [places.offsetOf(startIndex), places.offsetOf(endIndex)]
  if (typeof quoted !== 'string' || places.text.slice(start, end) === quoted) return { start, end }
  const found = places.find(quoted)
  return found < 0 ? NOWHERE : { start: found, end: found + quoted.length }
}
