import type { UrlCitation } from '../canonical/prompt.ts'
import type { JsonObject } from '../lib/json.ts'

/**
 * The members of a `url_citation` as both OpenAI dialects have them: typed clients need all but `content`. Where the
 * provider does not tell the place, it is the text so far; `saidLength` is its length in UTF-16 units.
 */
export const urlCitation = (citation: UrlCitation, saidLength: number): JsonObject => ({
  url: citation.url,
  title: citation.title ?? '',
  ...(citation.content === null ? {} : { content: citation.content }),
  start_index: citation.start ?? 0,
  end_index: citation.end ?? saidLength,
})
