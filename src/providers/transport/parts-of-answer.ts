/** Limits the number of parts in one answer, so that no step of the work on it grows with what a broken provider sends. */
import { PARTS_MAX } from '../../canonical/answer-parts.ts'
import { isObject } from '../../lib/json/json.ts'
import { unusable } from '../failures/classify-failure.ts'
import type { Target } from '../provider.ts'

/** The members, in the dialects of all providers, that hold an answer's calls, blocks, items and sources, and what counts them. Other members hold no parts. */
const HOLDERS = [
  'response',
  'item',
  'output',
  'choices',
  'message',
  'delta',
  'content',
  'tool_calls',
  'reasoning_details',
  'thinking_blocks',
  'annotations',
  'images',
  'summary',
  'citations',
  'candidates',
  'parts',
  'groundingMetadata',
  'groundingChunks',
  'groundingSupports',
  'groundingChunkIndices',
  'citationMetadata',
  'citationSources',
  'usage',
  'iterations',
] as const

/** The shortest JSON that can hold so many entries: shorter text is not searched. */
const LEAST_CHARACTERS = 2 * PARTS_MAX

/** Throws `provider_unavailable` for an answer, or an event of a stream, with too many parts. `text`: the JSON of `body`. */
export const requireFewParts = (text: string, body: unknown, target: Target): void => {
  if (text.length < LEAST_CHARACTERS) return
  const waiting: unknown[] = [body]
  let parts = 0
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (Array.isArray(one)) {
      parts += one.length
      if (parts > PARTS_MAX) throw unusable(target, `sent an answer of more than ${PARTS_MAX} parts.`)
      for (const entry of one as readonly unknown[]) if (isObject(entry)) waiting.push(entry)
    } else if (isObject(one)) {
      for (const name of HOLDERS) {
        const held = one[name]
        if (typeof held === 'object' && held !== null) waiting.push(held)
      }
    }
  }
}
