/** Content blocks of a whole message. */
import type { Block, BlockSink } from '../block-sequence.ts'

export interface BlockCollector extends BlockSink {
  /** JSON texts of the blocks that are closed. */
  readonly blocks: readonly string[]
}

export const collectBlocks = (): BlockCollector => {
  const blocks: string[] = []
  let open: Block | null = null
  let text = ''
  return {
    blocks,
    open(block) {
      open = block
      text = ''
    },
    piece(piece) {
      text += piece
    },
    close() {
      if (open !== null) blocks.push(contentBlock(open, text))
      open = null
    },
  }
}

/** JSON text of one block. */
const contentBlock = (block: Block, text: string): string => {
  if (block.type === 'tool-call') {
    const head = JSON.stringify({ type: 'tool_use', id: block.id, name: block.name })
    return `${head.slice(0, -1)},"input":${input(text)}}`
  }
  return JSON.stringify(
    block.type === 'reasoning' ? { type: 'thinking', thinking: text, signature: '' } : { type: 'text', text, citations: null },
  )
}

/** The arguments as they were written, where they are an object; a call that was cut short has none that could be told. */
const input = (json: string): string => {
  const text = json.trim()
  if (!text.startsWith('{')) return '{}'
  try {
    JSON.parse(text)
    return text
  } catch {
    return '{}'
  }
}
