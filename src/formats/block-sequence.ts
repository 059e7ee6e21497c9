/**
 * Model events as blocks that follow one another: exactly one is open at a time. Upstreams may weave parallel tool
 * calls into each other; the Responses and Messages dialects may not (pitfall 3).
 */
import type { ModelEvent } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import { ArgumentsScan } from './arguments-scan.ts'

export type Block =
  | { readonly type: 'text' | 'reasoning' | 'refusal' }
  | { readonly type: 'tool-call'; readonly index: number; readonly id: string; readonly name: string }

/** Told of each block: opened, its pieces (never empty), closed; then the next one. */
export interface BlockSink {
  open(block: Block): void
  piece(text: string): void
  close(): void
}

interface Entry {
  readonly block: Block
  /** Null for prose, which ends where anything else begins. */
  readonly scan: ArgumentsScan | null
  /** What arrived while another block was open. */
  waiting: string
  closed: boolean
}

/**
 * Prose ends when another block begins. A tool call ends when its arguments are one whole JSON value and another block
 * waits: so calls that come one after the other are streamed as they come, and only what is truly woven into an
 * unfinished call is held back until that is finished.
 */
export class BlockSequence {
  readonly #sink: BlockSink
  /** The open block, then those that wait for it, in order of appearance. */
  readonly #entries: Entry[] = []
  readonly #calls = new Map<number, Entry>()

  constructor(sink: BlockSink) {
    this.#sink = sink
  }

  /** Takes content; passes over events of other kinds. Throws `provider_unavailable` for arguments that have no open call. */
  push(event: ModelEvent): void {
    switch (event.type) {
      case 'text':
      case 'reasoning':
      case 'refusal':
        if (event.text !== '') this.#prose(event.type, event.text)
        return
      case 'tool-call':
        if (this.#calls.has(event.index)) return
        this.#calls.set(event.index, this.#begin({ type: 'tool-call', index: event.index, id: event.id, name: event.name }))
        return
      case 'tool-arguments':
        if (event.json !== '') this.#arguments(event.index, event.json)
        return
      case 'start':
      case 'usage':
      case 'finish':
      case 'error':
        return
    }
  }

  /** Delivers what waits and closes the last block. */
  end(): void {
    while (this.#entries.length > 0) this.#closeFirst()
  }

  #prose(type: 'text' | 'reasoning' | 'refusal', text: string): void {
    const last = this.#entries.at(-1)
    this.#append(last?.block.type === type ? last : this.#begin({ type }), text)
  }

  #arguments(index: number, json: string): void {
    const entry = this.#calls.get(index)
    if (entry?.closed === false) {
      this.#append(entry, json)
      return
    }
    // White space after the whole value changes nothing; anything else cannot be delivered any more.
    if (entry !== undefined && json.trim() === '') return
    throw new GatewayError('provider_unavailable', 'The provider sent arguments of a tool call that is not open.')
  }

  #begin(block: Block): Entry {
    const entry: Entry = { block, scan: block.type === 'tool-call' ? new ArgumentsScan() : null, waiting: '', closed: false }
    this.#entries.push(entry)
    if (this.#entries.length === 1) this.#sink.open(block)
    else this.#advance()
    return entry
  }

  #append(entry: Entry, text: string): void {
    entry.scan?.push(text)
    if (entry !== this.#entries[0]) {
      entry.waiting += text
      return
    }
    this.#sink.piece(text)
    this.#advance()
  }

  /** Closes the open block as long as it is done and another one waits. */
  #advance(): void {
    for (;;) {
      const [open, next] = this.#entries
      if (open === undefined || next === undefined) return
      if (open.scan !== null && !open.scan.complete) return
      this.#closeFirst()
    }
  }

  #closeFirst(): void {
    const first = this.#entries.shift()
    if (first === undefined) return
    first.closed = true
    this.#sink.close()
    const next = this.#entries[0]
    if (next === undefined) return
    this.#sink.open(next.block)
    if (next.waiting !== '') this.#sink.piece(next.waiting)
    next.waiting = ''
  }
}
