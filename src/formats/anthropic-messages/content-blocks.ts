/** Content blocks of a whole message. */
import type { UrlCitation } from '../../canonical/prompt.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Block, BlockSink } from '../block-sequence.ts'
import { imageBlock } from './image-block.ts'
import { resultBlock, useBlock } from './server-tool-blocks.ts'
import { proofBlock, signatureOf } from './thinking.ts'

export interface BlockCollector extends BlockSink {
  /** JSON texts of the blocks that are closed. */
  readonly blocks: readonly string[]
}

export const collectBlocks = (): BlockCollector => {
  const blocks: string[] = []
  let open: Block | null = null
  let text = ''
  let citations: JsonObject[] = []
  return {
    blocks,
    open(block) {
      open = block
      text = ''
      citations = []
    },
    piece(piece) {
      text += piece
    },
    cite(citation) {
      citations.push(citationLocation(citation))
    },
    close(proof) {
      if (open !== null) blocks.push(contentBlock(open, text, citations, proof))
      open = null
    },
    toolStarted(call) {
      blocks.push(JSON.stringify(useBlock(call)))
    },
    toolEnded(call, outcome) {
      blocks.push(JSON.stringify(resultBlock(call, outcome)))
    },
  }
}

/** A source, as one that was found by a search of the web: the one location of this dialect that has a URL. */
export const citationLocation = ({ url, title, content }: UrlCitation): JsonObject => ({
  type: 'web_search_result_location',
  cited_text: content ?? '',
  encrypted_index: '',
  // Typed clients want a text here.
  title: title ?? '',
  url,
})

/** JSON text of one block. */
const contentBlock = (block: Block, text: string, citations: readonly JsonObject[], proof: ReasoningProof | null): string => {
  switch (block.type) {
    case 'tool-call': {
      const head = JSON.stringify({ type: 'tool_use', id: block.id, name: block.name })
      return `${head.slice(0, -1)},"input":${input(text)}}`
    }
    case 'reasoning':
      return JSON.stringify({ type: 'thinking', thinking: text, signature: proof === null ? '' : signatureOf(proof) })
    case 'proof': {
      const reported = proofBlock(block)
      return JSON.stringify(
        'data' in reported ? { type: 'redacted_thinking', ...reported } : { type: 'thinking', thinking: '', ...reported },
      )
    }
    case 'image':
      return JSON.stringify(imageBlock(block.url))
    case 'text':
    case 'refusal':
      return JSON.stringify({ type: 'text', text, citations })
  }
}

/** The arguments as they were written, where they are an object; a call that was cut short has none that could be sent. */
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
