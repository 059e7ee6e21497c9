/** Decodes the details of output items: sources, log probabilities, proofs, pictures. */
import type { ModelEvent } from '../../canonical/event.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import { isObject, type JsonValue, listOf, textOf } from '../../lib/json/json.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Decodes a source on the web, for a text that begins at `textStart` in the answer's text; for other sources (files in the provider's own
 * storage) only the kind is reported.
 */
export const decodeAnnotation = (annotation: Json, textStart: number): ModelEvent[] => {
  const { type, url, title, content, start_index: start, end_index: end } = annotation
  if (type !== 'url_citation' || typeof url !== 'string') return [{ type: 'unknown', kind: typeof type === 'string' ? type : 'annotation' }]
  return [
    {
      type: 'citation',
      citation: {
        url,
        title: typeof title === 'string' ? title : null,
        content: typeof content === 'string' ? content : null,
        start: typeof start === 'number' ? textStart + start : null,
        end: typeof end === 'number' ? textStart + end : null,
      },
    },
  ]
}

/** Converts to the form of Chat Completions, in which each token has its bytes or null. */
export const decodeLogprobs = (value: unknown): ModelEvent[] => {
  if (!Array.isArray(value) || value.length === 0) return []
  const content = value.filter(isObject).map((token) => {
    const alternatives = listOf(token['top_logprobs'])
    return { ...logprob(token), top_logprobs: alternatives.filter(isObject).map(logprob) }
  })
  return [{ type: 'logprobs', content }]
}

const logprob = (token: Json): { readonly [member: string]: JsonValue } => ({
  token: textOf(token['token']),
  logprob: typeof token['logprob'] === 'number' ? token['logprob'] : 0,
  bytes: Array.isArray(token['bytes']) ? (token['bytes'] as JsonValue[]) : null,
})

/** The proof that the model wants back with the thinking in an item. */
export const proofOf = (item: Json): ReasoningProof | null => {
  const { id, encrypted_content: data } = item
  if (typeof data !== 'string' || data === '') return null
  return { format: 'openai-responses-v1', kind: 'encrypted', data, ...(typeof id === 'string' && id !== '' ? { id } : {}) }
}

export const imageEvents = (item: Json): ModelEvent[] => {
  const { result, output_format: format } = item
  if (typeof result !== 'string' || result === '') return []
  const type = format === 'svg' ? 'svg+xml' : format
  return [{ type: 'image', url: `data:image/${typeof type === 'string' ? type : 'png'};base64,${result}` }]
}
