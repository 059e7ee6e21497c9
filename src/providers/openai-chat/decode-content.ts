/** Decodes the members of a message or a delta other than plain text: parts, sources, pictures. */
import type { ModelEvent } from '../../canonical/event.ts'
import type { UrlCitation } from '../../canonical/prompt.ts'
import { isObject, listOf, textOf } from '../../lib/json.ts'

type Json = Readonly<Record<string, unknown>>

/** Decodes a list of parts, in which some vendors have types of their own for thinking, sources and pictures. */
export const decodeParts = (parts: readonly unknown[], events: ModelEvent[]): void => {
  for (const part of parts) {
    if (!isObject(part)) continue
    switch (part['type']) {
      case 'text':
        pushText(part['text'], events)
        break
      case 'thinking': {
        const thinking = part['thinking']
        const text = Array.isArray(thinking)
          ? thinking.map((piece) => (isObject(piece) ? textOf(piece['text']) : '')).join('')
          : textOf(thinking)
        events.push({ type: 'reasoning', text })
        break
      }
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
  add(chunk: Json): void
  /** Returns the sources that were added since the last call. */
  take(): readonly ModelEvent[]
}

/**
 * Perplexity and xAI send sources beside the choices, repeated in each chunk: `citations` are addresses, `search_results` have more about
 * the same pages.
 */
export const collectSources = (): Sources => {
  const seen = new Set<string>()
  let unreported: ModelEvent[] = []
  return {
    add(chunk) {
      const results = listOf(chunk['search_results'])
      const citations = listOf(chunk['citations'])
      for (const source of [...results, ...citations]) {
        const citation = isObject(source) ? sourceOf(source) : typeof source === 'string' ? page(source) : null
        if (citation === null || seen.has(citation.url)) continue
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

const sourceOf = ({ url, title, snippet }: Json): UrlCitation | null =>
  typeof url === 'string' ? { ...page(url), title: textOrNull(title), content: textOrNull(snippet) } : null

const page = (url: string): UrlCitation => ({ url, title: null, content: null, start: null, end: null })

const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null)
