/** Reads the sources of an answer: those of its web search, and those of its quotations. */
import type { UrlCitation } from '../../canonical/prompt.ts'
import { isObject, listOf, objectsIn } from '../../lib/json/json.ts'

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
  let text = ''
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
    said(piece) {
      text += piece
    },
    citations(candidate) {
      const metadata = isObject(candidate['groundingMetadata']) ? candidate['groundingMetadata'] : {}
      for (const query of listOf(metadata['webSearchQueries'])) if (query !== '') queries.add(query)
      return fresh([...groundingCitations(metadata, text), ...quotations(candidate['citationMetadata'], text)])
    },
    get searches() {
      return queries.size
    },
  }
}

const groundingCitations = (metadata: Json, text: string): UrlCitation[] => {
  const sources = listOf(metadata['groundingChunks']).map(sourceOf)
  const supports = objectsIn(metadata['groundingSupports'])
  if (sources.length === 0) return []
  const bytes = supports.length === 0 ? null : Buffer.from(text)
  const supported = supports.flatMap((support) => {
    const place = bytes === null ? NOWHERE : placeOf(isObject(support['segment']) ? support['segment'] : {}, bytes, text)
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

const quotations = (metadata: unknown, text: string): UrlCitation[] => {
  const bytes = Buffer.from(isObject(metadata) ? text : '')
  return objectsIn(isObject(metadata) ? (metadata['citationSources'] ?? metadata['citations']) : undefined).flatMap((source) => {
    const { uri, title } = source
    return typeof uri === 'string' && uri !== ''
      ? [{ url: uri, title: typeof title === 'string' ? title : null, content: null, ...placeOf(source, bytes, text) }]
      : []
  })
}

const NOWHERE = { start: null, end: null }

/** Google's indices count UTF-8 bytes, and only within one part; the quoted text shows whether they are right for the whole text. */
const placeOf = (segment: Json, bytes: Buffer, text: string): { start: number | null; end: number | null } => {
  const { startIndex = 0, endIndex, text: quoted } = segment
  if (typeof startIndex !== 'number' || typeof endIndex !== 'number' || startIndex < 0 || endIndex < startIndex) return NOWHERE
  const start = bytes.subarray(0, startIndex).toString().length
  const end = start + bytes.subarray(startIndex, endIndex).toString().length
  if (typeof quoted !== 'string' || text.slice(start, end) === quoted) return { start, end }
  const found = text.indexOf(quoted)
  return found < 0 ? NOWHERE : { start: found, end: found + quoted.length }
}
