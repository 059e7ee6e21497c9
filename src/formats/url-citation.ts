import type { UrlCitation } from '../canonical/prompt.ts'
import type { JsonObject } from '../lib/json/json.ts'

/**
 * The members of a `url_citation` as both OpenAI dialects have them; typed clients need all but `content`. Positions are relative
 * to a text that begins at `textStart` of the answer's text. If the provider states no position, the range is that text so far;
 * `saidLength` is its length in UTF-16 units.
 */
export const urlCitation = (citation: UrlCitation, textStart: number, saidLength: number): JsonObject => ({
  url: citation.url,
  title: citation.title ?? '',
  ...(citation.content === null ? {} : { content: citation.content }),
  start_index: citation.start === null ? 0 : Math.max(0, citation.start - textStart),
  end_index: citation.end === null ? saidLength : Math.max(0, citation.end - textStart),
})
