/**
 * Turns model events into consecutive blocks of which exactly one is open at a time. Upstreams may interleave parallel tool calls;
 * the Responses and Messages dialects may not (docs/contract/streams.md#lifecycle).
 */
import { type ModelEvent, PARAGRAPH_BREAK } from '../canonical/event.ts'
import type { BuiltInTool } from '../canonical/built-in-tools.ts'
import type { UrlCitation } from '../canonical/prompt.ts'
import type { ReasoningProof } from '../canonical/reasoning.ts'
import type { ServerCall, ServerOutcome, ToolProgress } from '../canonical/server-tools.ts'
import type { CallingAgent } from '../canonical/waiting-agent.ts'
import { GatewayError } from '../errors.ts'
import type { JsonValue } from '../lib/json/json.ts'
import { ArgumentsScan } from '../lib/json/arguments-scan.ts'
import type { KeepText } from './format.ts'

export type Block =
  /** `start`: UTF-16 units of the answer's text before this block, breaks included. */
  | { readonly type: 'text'; readonly start: number }
  | { readonly type: 'refusal' }
  | { readonly type: 'reasoning'; readonly summary: boolean }
  /** Thinking without readable text. `ofCall`: the proof, whose `id` is the call's, belongs to the tool call that follows. */
  | { readonly type: 'proof'; readonly proof: ReasoningProof; readonly ofCall: boolean }
  | { readonly type: 'image'; readonly url: string }
  | {
      readonly type: 'tool-call'
      readonly index: number
      readonly id: string
      readonly name: string
      readonly namespace?: string
      readonly builtIn?: BuiltInTool
      readonly custom: boolean
      readonly subagent?: CallingAgent
    }

/** Called for each block in order: `open`, its pieces (never empty), `close`. */
export interface BlockSink {
  open(block: Block): void
  piece(text: string): void
  /** A source of the open text. */
  cite(citation: UrlCitation): void
  /** Log probabilities of the open text. */
  logprobs?(content: readonly JsonValue[]): void
  /** `proof`: the proof with which the open thinking ended. */
  close(proof: ReasoningProof | null): void
  /** A tool that the service runs has started; no block is open then. Several may run at once. */
  toolStarted(call: ServerCall): void
  toolProgressed?(call: ServerCall, progress: ToolProgress): void
  toolEnded(call: ServerCall, outcome: ServerOutcome): void
}

type Piece =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'citation'; readonly citation: UrlCitation }
  | { readonly type: 'logprobs'; readonly content: readonly JsonValue[] }

interface Entry {
  readonly block: Block
  /** Null for all blocks except function calls: any other block ends when something else begins. */
  readonly scan: ArgumentsScan | null
  /** The pieces that arrived while another block was open. */
  readonly waiting: Piece[]
  /** Nothing more can be added: the block closes as soon as it is its turn. */
  ended: boolean
  proof: ReasoningProof | null
  closed: boolean
}

/**
 * A text block ends when another block begins. A tool call ends when its arguments are one complete JSON value and another block
 * waits. So consecutive calls are streamed as they arrive, and only pieces interleaved with an unfinished call are held back until
 * that call is complete.
 */
export class BlockSequence {
  readonly #sink: BlockSink
  readonly #keep: KeepText | undefined
  /** The open block, then those that wait for it, in order of appearance. */
  readonly #entries: Entry[] = []
  readonly #calls = new Map<number, Entry>()
  /** Sources that arrived while no text was open; they are added to the next text. */
  #citations: UrlCitation[] = []
  #textLength = 0

  /** `keep`: see AnswerHead. */
  constructor(sink: BlockSink, keep?: KeepText) {
    this.#sink = sink
    this.#keep = keep
  }

  /** Takes content and ignores other kinds of events. Throws `provider_unavailable` for arguments without an open call. */
  push(event: ModelEvent): void {
    switch (event.type) {
      case 'text':
        if (event.text === '') return
        this.#prose({ type: 'text', start: this.#textLength }, event.text)
        this.#textLength += event.text.length
        return
      case 'text-break':
        this.#textLength += PARAGRAPH_BREAK.length
        this.#endText()
        return
      case 'refusal':
        if (event.text !== '') this.#prose({ type: 'refusal' }, event.text)
        return
      case 'reasoning':
        if (event.text !== '') this.#prose({ type: 'reasoning', summary: event.summary === true }, event.text)
        return
      case 'reasoning-end':
        this.#endReasoning(event.proof)
        return
      case 'citation':
        this.#cite(event.citation)
        return
      case 'logprobs':
        if (event.content.length > 0) this.#logprobs(event.content)
        return
      case 'image':
        this.#begin({ type: 'image', url: event.url }, true)
        return
      case 'tool-call':
        if (this.#calls.has(event.index)) return
        this.#proofOfCall(event.proof, event.id)
        this.#calls.set(event.index, this.#begin({ ...event, type: 'tool-call', custom: event.custom === true }))
        return
      case 'tool-arguments':
        if (event.json !== '') this.#arguments(event.index, event.json)
        return
      case 'server-tool-start':
        this.#proofOfCall(event.call.proof, event.call.callId)
        this.end()
        this.#sink.toolStarted(event.call)
        return
      case 'server-tool-progress':
        this.#sink.toolProgressed?.(event.call, event.progress)
        return
      case 'server-tool-end':
        this.end()
        this.#sink.toolEnded(event.call, event.outcome)
        return
      case 'start':
      case 'own-members':
      case 'unknown':
      case 'usage':
      case 'finish':
      // Only Chat Completions can express it.
      case 'file-text':
        return
    }
  }

  /** Delivers the waiting blocks and closes the last one. */
  end(): void {
    while (this.#entries.length > 0) this.#closeFirst()
  }

  #proofOfCall(proof: ReasoningProof | undefined, id: string): void {
    if (proof !== undefined) this.#begin({ type: 'proof', proof: { ...proof, id }, ofCall: true }, true)
  }

  #prose(block: Block, text: string): void {
    const last = this.#entries.at(-1)
    this.#append(last !== undefined && !last.ended && isSameProse(last.block, block) ? last : this.#begin(block), { type: 'text', text })
  }

  #endText(): void {
    const last = this.#entries.at(-1)
    if (last?.block.type !== 'text') return
    last.ended = true
    this.#advance()
  }

  #endReasoning(proof: ReasoningProof | null): void {
    const last = this.#entries.at(-1)
    if (last?.block.type === 'reasoning' && !last.ended) {
      last.proof = proof
      last.ended = true
      this.#advance()
    } else if (proof !== null) this.#begin({ type: 'proof', proof, ofCall: false }, true)
  }

  #cite(citation: UrlCitation): void {
    const last = this.#entries.at(-1)
    if (last?.block.type === 'text') this.#append(last, { type: 'citation', citation })
    else this.#citations.push(citation)
  }

  #logprobs(content: readonly JsonValue[]): void {
    const last = this.#entries.at(-1)
    if (last?.block.type === 'text') this.#append(last, { type: 'logprobs', content })
  }

  #arguments(index: number, json: string): void {
    const entry = this.#calls.get(index)
    if (entry?.closed === false) {
      this.#append(entry, { type: 'text', text: json })
      return
    }
    // White space after the complete value changes nothing; anything else can no longer be delivered.
    if (entry !== undefined && json.trim() === '') return
    throw new GatewayError('provider_unavailable', 'The provider sent arguments of a tool call that is not open.')
  }

  #begin(block: Block, ended = false): Entry {
    const scan = block.type === 'tool-call' && !block.custom ? new ArgumentsScan() : null
    const entry: Entry = { block, scan, waiting: [], ended, proof: null, closed: false }
    this.#entries.push(entry)
    if (this.#entries.length === 1) this.#sink.open(block)
    if (block.type === 'text') {
      for (const citation of this.#citations) this.#append(entry, { type: 'citation', citation })
      this.#citations = []
    }
    this.#advance()
    return entry
  }

  #append(entry: Entry, piece: Piece): void {
    if (piece.type === 'text') entry.scan?.push(piece.text)
    if (entry === this.#entries[0]) {
      this.#deliver(piece)
      this.#advance()
      return
    }
    if (piece.type === 'text') this.#keep?.(piece.text.length)
    const before = entry.waiting.at(-1)
    if (before?.type === 'text' && piece.type === 'text') before.text += piece.text
    else entry.waiting.push(piece)
  }

  #deliver(piece: Piece): void {
    if (piece.type === 'text') this.#sink.piece(piece.text)
    else if (piece.type === 'citation') this.#sink.cite(piece.citation)
    else this.#sink.logprobs?.(piece.content)
  }

  /** Closes the open block while it is done: it has ended, or another block waits and it is complete. */
  #advance(): void {
    for (;;) {
      const [open, next] = this.#entries
      if (open === undefined) return
      if (!open.ended && (next === undefined || open.scan?.complete === false)) return
      this.#closeFirst()
    }
  }

  #closeFirst(): void {
    const first = this.#entries.shift()
    if (first === undefined) return
    first.closed = true
    this.#sink.close(first.proof)
    const next = this.#entries[0]
    if (next === undefined) return
    this.#sink.open(next.block)
    for (const piece of next.waiting) this.#deliver(piece)
    next.waiting.length = 0
  }
}

const isSameProse = (open: Block, next: Block): boolean =>
  open.type === next.type && (open.type !== 'reasoning' || next.type !== 'reasoning' || open.summary === next.summary)
