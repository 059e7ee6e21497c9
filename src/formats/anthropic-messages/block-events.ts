/** The stream events of content blocks: one open at a time, indices dense from 0. */
import { eventFrame } from '../../lib/sse.ts'
import type { Block, BlockSink } from '../block-sequence.ts'

export class BlockEvents implements BlockSink {
  #out = ''
  #index = 0
  /** Everything of a delta before and behind its text; constant for a block. */
  #deltaStart = ''
  /** The open block is a tool call that has no arguments yet. */
  #bare = false

  /** The frames since the last take. */
  take(): string {
    const out = this.#out
    this.#out = ''
    return out
  }

  open(block: Block): void {
    const start = `{"type":"content_block_start","index":${this.#index},"content_block":${startOf(block)}}`
    this.#out += eventFrame('content_block_start', start)
    this.#bare = block.type === 'tool-call'
    this.#deltaStart = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":{${deltaOf(block)}:`
  }

  piece(text: string): void {
    this.#bare = false
    this.#out += `${this.#deltaStart}${JSON.stringify(text)}}}\n\n`
  }

  close(): void {
    // A call without arguments is one with an empty object: some clients parse the joined deltas unseen.
    if (this.#bare) this.piece('{}')
    this.#out += eventFrame('content_block_stop', `{"type":"content_block_stop","index":${this.#index}}`)
    this.#index += 1
  }
}

const startOf = (block: Block): string => {
  if (block.type === 'tool-call') return JSON.stringify({ type: 'tool_use', id: block.id, name: block.name, input: {} })
  return block.type === 'reasoning' ? '{"type":"thinking","thinking":"","signature":""}' : '{"type":"text","text":"","citations":null}'
}

const deltaOf = (block: Block): string => {
  if (block.type === 'tool-call') return '"type":"input_json_delta","partial_json"'
  return block.type === 'reasoning' ? '"type":"thinking_delta","thinking"' : '"type":"text_delta","text"'
}
