/**
 * Reads the system text of a request body: one string, and the blocks it came in if they carry more
 * (docs/contract/presets.md#system-prompt).
 */
import type { z } from 'zod'

import { systemContent, type textBlock } from '../request-fields/schemas/cache.ts'
import type { Findings } from './findings.ts'

/** A system prompt is stored, sent with every call and held in caches: a megabyte is far beyond any use. */
const SYSTEM_TEXT_MAX_BYTES = 1024 * 1024

type TextBlock = z.input<typeof textBlock>

export interface SystemText {
  readonly text: string
  /** Set if a block carries more than its text, such as `cache_control`. */
  readonly blocks: readonly TextBlock[] | null
}

/** A place of system text in a body. */
export interface SystemSource {
  readonly at: readonly PropertyKey[]
  readonly content: unknown
}

/** Joins texts with a blank line. Returns null if there is no text at all; an empty string is a text. */
export const readSystemText = (sources: readonly SystemSource[], findings: Findings): SystemText | null => {
  const blocks: TextBlock[] = []
  for (const { at, content } of sources) {
    if (findings.check(systemContent, content, at)) blocks.push(...blocksOf(content as z.input<typeof systemContent>))
  }
  const [first] = sources
  if (first === undefined || blocks.length === 0) return null
  const text = blocks.map((block) => block.text).join('\n\n')
  if (isLong(text)) findings.fault(first.at, 'Too long: system text has at most 1 MiB.')
  return { text, blocks: blocks.some(carriesMore) ? blocks : null }
}

const blocksOf = (content: z.input<typeof systemContent>): readonly TextBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

const carriesMore = (block: TextBlock): boolean =>
  Object.entries(block).some(([key, value]) => key !== 'type' && key !== 'text' && value !== null)

/** UTF-8 needs one to three bytes per UTF-16 unit, so the bytes of most texts need not be counted. */
const isLong = (text: string): boolean =>
  text.length > SYSTEM_TEXT_MAX_BYTES || (text.length * 3 > SYSTEM_TEXT_MAX_BYTES && Buffer.byteLength(text) > SYSTEM_TEXT_MAX_BYTES)
