/** Reads the items of an uploaded file: a list, an object with `items`, or one item per line. */
import type { EvaluationRequest } from '../../../api/evaluations.ts'

export type Item = Extract<EvaluationRequest['items'], readonly unknown[]>[number]

export type ItemSet =
  /** `left`: other members of the file, such as its checks, which are ignored. */
  { readonly items: readonly Item[]; readonly left: readonly string[] } | { readonly fault: string }

export const readItemSet = (text: string, fileName: string): ItemSet => {
  try {
    const read: unknown = /\.(?:jsonl|ndjson)$/i.test(fileName) ? linesOf(text) : JSON.parse(text)
    const items: unknown = Array.isArray(read) ? read : (read as { items?: unknown } | null)?.items
    if (!Array.isArray(items)) return { fault: 'The file holds neither a list of items nor an object with items.' }
    const wrong = items.findIndex((item) => !isItem(item))
    if (wrong >= 0) return { fault: `Item ${wrong + 1} has no messages: write { "messages": [{ "role": "user", "content": "…" }] }.` }
    if (items.length === 0) return { fault: 'The file holds no items.' }
    const left = Array.isArray(read) ? [] : Object.keys(read as object).filter((name) => name !== 'items')
    return { items: items as readonly Item[], left }
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown
    return { fault: `The file is no JSON: ${thrown.message}` }
  }
}

const linesOf = (text: string): unknown[] =>
  text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    try {
      return [JSON.parse(line) as unknown]
    } catch (thrown) {
      throw new SyntaxError(`line ${at + 1}: ${(thrown as SyntaxError).message}`, { cause: thrown })
    }
  })

const isItem = (item: unknown): item is Item =>
  typeof item === 'object' && item !== null && Array.isArray((item as { messages?: unknown }).messages)
