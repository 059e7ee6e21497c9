/** The stream events of content blocks: one is open at a time, and indices are dense from 0. */
import type { UrlCitation } from '../../canonical/prompt.ts'
import { pictureText } from './picture-text.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { ServerCall, ServerOutcome } from '../../canonical/server-tools.ts'
import { eventFrame } from '../../lib/network/sse.ts'
import type { Block, BlockSink } from '../block-sequence.ts'
import { citationLocation } from './content-blocks.ts'
import { resultBlock, useBlock } from './server-tool-blocks.ts'
import { proofBlock, signatureOf } from './thinking.ts'

export class BlockEvents implements BlockSink {
  #out = ''
  #index = 0
  /** The text of a delta before its members; constant within a block. */
  #deltaStart = ''
  /** The members of a delta that precede its text. */
  #pieceStart = ''
  /** The open block is a tool call without arguments so far. */
  #bare = false
  /** The open block is thinking, whose signature comes at its end. */
  #unsigned = false

  /** Returns the frames written since the last `take`. */
  take(): string {
    const out = this.#out
    this.#out = ''
    return out
  }

  open(block: Block): void {
    const proven = block.type === 'proof' ? proofBlock(block) : null
    const opening = proven !== null && 'data' in proven ? JSON.stringify({ type: 'redacted_thinking', ...proven }) : startOf(block)
    this.#start(opening)
    this.#bare = block.type === 'tool-call'
    this.#unsigned = block.type === 'reasoning'
    this.#pieceStart = this.#deltaStart + deltaOf(block)
    if (proven !== null && 'signature' in proven) this.#sign(proven.signature)
    if (block.type === 'image') this.piece(pictureText(block.url))
  }

  piece(text: string): void {
    this.#bare = false
    this.#out += `${this.#pieceStart}${JSON.stringify(text)}}}\n\n`
  }

  cite(citation: UrlCitation): void {
    this.#out += `${this.#deltaStart}"type":"citations_delta","citation":${JSON.stringify(citationLocation(citation))}}}\n\n`
  }

  close(proof: ReasoningProof | null): void {
    // A call without arguments gets an empty object: some clients parse the joined deltas without checking.
    if (this.#bare) this.piece('{}')
    if (proof !== null || this.#unsigned) this.#sign(signatureOf(proof))
    this.#stop()
  }

  toolStarted(call: ServerCall): void {
    this.#start(JSON.stringify(useBlock(call, {})))
    this.#out += `${this.#deltaStart}"type":"input_json_delta","partial_json":${JSON.stringify(JSON.stringify(call.input))}}}\n\n`
    this.#stop()
  }

  toolEnded(call: ServerCall, outcome: ServerOutcome): void {
    this.#start(JSON.stringify(resultBlock(call, outcome)))
    this.#stop()
  }

  #start(block: string): void {
    this.#out += eventFrame('content_block_start', `{"type":"content_block_start","index":${this.#index},"content_block":${block}}`)
    this.#deltaStart = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":{`
  }

  #stop(): void {
    this.#out += eventFrame('content_block_stop', `{"type":"content_block_stop","index":${this.#index}}`)
    this.#index += 1
  }

  #sign(signature: string): void {
    this.#out += `${this.#deltaStart}"type":"signature_delta","signature":${JSON.stringify(signature)}}}\n\n`
  }
}

const startOf = (block: Block): string => {
  if (block.type === 'tool-call') return JSON.stringify({ type: 'tool_use', id: block.id, name: block.name, input: {} })
  return isThinking(block) ? '{"type":"thinking","thinking":"","signature":""}' : '{"type":"text","text":"","citations":[]}'
}

const deltaOf = (block: Block): string => {
  if (block.type === 'tool-call') return '"type":"input_json_delta","partial_json":'
  return isThinking(block) ? '"type":"thinking_delta","thinking":' : '"type":"text_delta","text":'
}

const isThinking = (block: Block): boolean => block.type === 'reasoning' || block.type === 'proof'
