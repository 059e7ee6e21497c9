/** Reads the items of an uploaded file: a list, an object with `items`, or one item per line. */
import type { EvaluationRequest } from '../../../api/evaluations.ts'
import { readJson } from '../../../read-json.ts'

export type Item = Extract<EvaluationRequest['items'], readonly unknown[]>[number]

export type ItemSet =
  /** `left`: other members of the file, such as its checks, which are ignored. */
  { readonly items: readonly Item[]; readonly left: readonly string[] } | { readonly fault: string }

export const readItemSet = (text: string, fileName: string): ItemSet => {
  const json = /\.(?:jsonl|ndjson)$/i.test(fileName) ? readLines(text) : readJson(text)
  if ('fault' in json) return json
  const read = json.value
  const items: unknown = Array.isArray(read) ? read : (read as { items?: unknown } | null)?.items
  if (!Array.isArray(items)) return { fault: 'The file holds neither a list of items nor an object with items.' }
  const wrong = items.findIndex((item) => !isItem(item))
  if (wrong >= 0) return { fault: `Item ${wrong + 1} has no messages: write { "messages": [{ "role": "user", "content": "…" }] }.` }
  if (items.length === 0) return { fault: 'The file holds no items.' }
  const left = Array.isArray(read) ? [] : Object.keys(read as object).filter((name) => name !== 'items')
  return { items: items as readonly Item[], left }
}

const readLines = (text: string): ReturnType<typeof readJson> => {
  const value: unknown[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const read = readJson(line)
    // The line breaks before it count in the place of the fault.
    if ('fault' in read) return readJson('\n'.repeat(at) + line)
    value.push(read.value)
  }
  return { value }
}

const isItem = (item: unknown): item is Item =>
  typeof item === 'object' && item !== null && Array.isArray((item as { messages?: unknown }).messages)
