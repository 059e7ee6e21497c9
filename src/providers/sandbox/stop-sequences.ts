/** Applies stop sequences as models do: the answer ends before the sequence. */
import type { Block } from './block.ts'

export interface StoppedBlocks {
  readonly blocks: readonly Block[]
  /** The sequence that ends the answer; null if none does. */
  readonly sequence: string | null
}

/** The first text that contains a sequence ends before it, and nothing follows. Thinking and calls of tools are not searched. */
export const stoppedBlocks = (blocks: readonly Block[], sequences: readonly string[]): StoppedBlocks => {
  for (const [index, block] of blocks.entries()) {
    if (block.type !== 'text') continue
    const found = firstIn(block.text, sequences)
    if (found === null) continue
    return { blocks: [...blocks.slice(0, index), { ...block, text: block.text.slice(0, found.start) }], sequence: found.sequence }
  }
  return { blocks, sequence: null }
}

interface Found {
  readonly sequence: string
  readonly start: number
  readonly end: number
}

/** A model that writes one character after the other stops at the sequence that is complete first. */
const firstIn = (text: string, sequences: readonly string[]): Found | null => {
  const found = sequences.flatMap((sequence): Found[] => {
    const start = sequence === '' ? -1 : text.indexOf(sequence)
    return start < 0 ? [] : [{ sequence, start, end: start + sequence.length }]
  })
  return found.toSorted((a, b) => a.end - b.end || a.start - b.start)[0] ?? null
}
