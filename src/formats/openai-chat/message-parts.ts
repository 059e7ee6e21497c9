/** Members of a message or of a delta beside its text. */
import type { FileText } from '../../canonical/event.ts'
import type { UrlCitation } from '../../canonical/prompt.ts'
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'
import { urlCitation } from '../url-citation.ts'

/** An entry of `annotations`. */
export const annotation = (citation: UrlCitation, saidLength: number): JsonObject => ({
  type: 'url_citation',
  url_citation: urlCitation(citation, 0, saidLength),
})

/** An annotation for a file that the service read. */
export const fileAnnotation = ({ hash, name, text }: FileText): JsonObject => ({
  type: 'file',
  file: { hash, ...(name === null ? {} : { name }), content: [{ type: 'text', text }] },
})

/** An entry of `images`. */
export const image = (url: string, index: number): JsonObject => ({ type: 'image_url', image_url: { url }, index })

/** The `logprobs` of a choice. */
export const logprobs = (content: readonly JsonValue[]): JsonObject => ({ content, refusal: null })
