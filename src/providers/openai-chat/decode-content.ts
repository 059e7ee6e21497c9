/** Decodes the members of a message or a delta other than plain text: parts, sources, pictures. */
import type { ModelEvent } from '../../canonical/event.ts'
import type { UrlCitation } from '../../canonical/prompt.ts'
import { isObject, listOf, objectsIn, textOf, textOrNull } from '../../lib/json/json.ts'
import { textOfThinking } from './thinking-parts.ts'

type Json = Readonly<Record<string, unknown>>

/** Decodes a list of parts, in which some vendors have types of their own for thinking, sources and pictures. */
export const decodeParts = (parts: readonly unknown[], events: ModelEvent[]): void => {
  for (const part of parts) {
    if (typeof part === 'string') pushText(part, events)
    if (!isObject(part)) continue
    switch (part['type']) {
      case 'text':
      case 'output_text':
        pushText(part['text'], events)
        break
      // Databricks
      case 'reasoning':
        for (const piece of objectsIn(part['summary'])) events.push({ type: 'reasoning', text: textOf(piece['text']), summary: true })
        break
      case 'thinking':
        events.push({ type: 'reasoning', text: textOfThinking(part) })
        break
      case 'image_url':
        pushImage(part, events)
        break
      default:
        if (typeof part['type'] === 'string') events.push({ type: 'unknown', kind: part['type'] })
    }
  }
}

const pushText = (text: unknown, events: ModelEvent[]): void => {
  if (typeof text === 'string') events.push({ type: 'text', text })
}

/** `images` of a message: `[{type: 'image_url', image_url: {url}}]`. */
export const decodeImages = (images: readonly unknown[], events: ModelEvent[]): void => {
  for (const image of images) if (isObject(image)) pushImage(image, events)
}

const pushImage = (image: Json, events: ModelEvent[]): void => {
  const about = image['image_url']
  const url = isObject(about) ? about['url'] : about
  if (typeof url === 'string' && /^(?:data|https):/i.test(url)) events.push({ type: 'image', url })
}

/** Decodes `annotations` of a message; only citations of pages have a canonical form. */
export const decodeAnnotations = (annotations: readonly unknown[], events: ModelEvent[]): void => {
  for (const annotation of annotations) {
    if (!isObject(annotation)) continue
    const about = annotation['url_citation']
    if (annotation['type'] !== 'url_citation' || !isObject(about) || typeof about['url'] !== 'string') {
      if (typeof annotation['type'] === 'string') events.push({ type: 'unknown', kind: annotation['type'] })
      continue
    }
    const { url, title, content, start_index: start, end_index: end } = about
    events.push({
      type: 'citation',
      citation: { url, title: textOrNull(title), content: textOrNull(content), start: numberOrNull(start), end: numberOrNull(end) },
    })
  }
}

/** Collects the sources of a whole answer, each page once. */
export interface Sources {
  add(found: readonly unknown[]): void
  /** Returns the sources that were added since the last call. */
  take(): readonly ModelEvent[]
}

/**
 * The sources that vendors send beside the text. Perplexity and xAI repeat them in each chunk: `citations` are addresses, `search_results`
 * have more about the same pages. Z.ai has `web_search`. Groq has them in the tools that it ran, Azure in the context of its own data,
 * Cohere in the message, where each place of the text has its `sources`.
 */
export const sourcesIn = (
  { search_results: results, citations, web_search: searched }: Json,
  { executed_tools: executed, context, citations: cited }: Json,
): readonly unknown[] => {
  // Nearly every chunk of a stream has none.
  if ((results ?? citations ?? searched ?? executed ?? context ?? cited ?? null) === null) return NO_SOURCES
  return [
    ...listOf(results),
    ...listOf(citations),
    ...listOf(searched),
    ...objectsIn(executed).flatMap(({ search_results: found }) => (isObject(found) ? listOf(found['results']) : [])),
    ...(isObject(context) ? listOf(context['citations']) : []),
    ...listOf(cited).flatMap((one) => (isObject(one) && Array.isArray(one['sources']) ? listOf(one['sources']) : [one])),
  ]
}

const NO_SOURCES: readonly unknown[] = []

export const collectSources = (): Sources => {
  const seen = new Set<string>()
  let unreported: ModelEvent[] = []
  /** A source has no address that other dialects could express. */
  let isUnread = false
  return {
    add(found) {
      for (const source of found) {
        const named = typeof source === 'string' ? page(source) : null
        const citation = isObject(source) ? sourceOf(source) : named
        if (citation === null) {
          if (!isUnread) unreported.push({ type: 'unknown', kind: 'citations' })
          isUnread = true
          continue
        }
        if (seen.has(citation.url)) continue
        seen.add(citation.url)
        unreported.push({ type: 'citation', citation })
      }
    },
    take() {
      const reported = unreported
      unreported = []
      return reported
    },
  }
}

const sourceOf = (source: Json): UrlCitation | null => {
  const { url, link, title, snippet, content } = isObject(source['document']) ? source['document'] : source
  const address = textOf(url) || textOf(link)
  return address === '' ? null : { ...page(address), title: textOrNull(title), content: textOrNull(snippet) ?? textOrNull(content) }
}

const page = (url: string): UrlCitation => ({ url, title: null, content: null, start: null, end: null })

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null)
