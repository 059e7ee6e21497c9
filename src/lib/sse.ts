/**
 * Server-sent events: what we write to clients, and what we read from upstreams.
 *
 * Written by rules that every client of the field survives (docs/contract/streams.md#framing): LF endings, one line of data,
 * never `id:`, `retry:`, a BOM or an empty `data:`. Read by the whole grammar of the WHATWG HTML standard.
 */

/** The end marker of every stream, on all three interfaces. */
export const DONE_FRAME = 'data: [DONE]\n\n'

/** A comment: keeps connections open, and every parser skips it. */
export const KEEP_ALIVE_FRAME = ': SERVICE PROCESSING\n\n'

/** A frame of unnamed data. `data` is one line that is not empty, as `JSON.stringify` writes it. */
export const dataFrame = (data: string): string => `data: ${data}\n\n`

/** A named frame. Neither name nor data holds a line end. */
export const eventFrame = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`

export interface SseEvent {
  /** The `event` field; null where it is absent or empty. */
  readonly event: string | null
  /** The `data` lines, joined with LF; never empty. */
  readonly data: string
}

export interface SseLimits {
  /** UTF-16 units of one line. */
  readonly line: number
  /** UTF-16 units of the data of one event. */
  readonly event: number
  /** Fields of one event. Comments are not counted: a slow upstream may send any number of them. */
  readonly linesPerEvent: number
}

const SSE_LIMITS: SseLimits = { line: 8 * 1024 * 1024, event: 16 * 1024 * 1024, linesPerEvent: 10_000 }

/** The stream is over one of its limits; `message` names it. The decoder is of no further use. */
export class SseLimitError extends Error {
  override readonly name = 'SseLimitError'
}

const LF = 10
const SPACE = 32
const USUAL_PREFIX = 'data: '

/** Pieces of an unfinished line are joined in blocks of about this size, so that one byte a chunk stays cheap. */
const BLOCK = 4096

/**
 * Bytes in, events out, in linear time however the bytes are cut. `id` and `retry` are read and dropped: we never
 * reconnect to an upstream.
 */
export class SseDecoder {
  /** Keeps the state of a split code point and drops the one leading BOM, also when that is split. */
  readonly #utf8 = new TextDecoder()
  readonly #limits: SseLimits
  /** The unfinished line: full blocks, and the piece that grows. */
  #blocks: string[] = []
  #tail = ''
  #lineLength = 0
  /** The chunk before ended in CR: an LF now belongs to it. */
  #swallowLf = false
  #event: string | null = null
  #data: string | null = null
  #fields = 0

  constructor(limits: SseLimits = SSE_LIMITS) {
    this.#limits = limits
  }

  /** The events that `chunk` completes. Throws SseLimitError. */
  push(chunk: Uint8Array): SseEvent[] {
    const events: SseEvent[] = []
    this.#read(this.#utf8.decode(chunk, { stream: true }), events)
    return events
  }

  /**
   * The end of the bytes. Answers with the event that lacks its blank line, if there is one: the standard discards it,
   * upstreams that end a good stream this way exist, so the caller decides by what is in it.
   */
  end(): SseEvent | null {
    const events: SseEvent[] = []
    this.#read(this.#utf8.decode(), events)
    if (this.#lineLength > 0) this.#field(this.#takeLine(''))
    this.#dispatch(events)
    return events[0] ?? null
  }

  #read(text: string, events: SseEvent[]): void {
    if (text === '') return
    let from = 0
    if (this.#swallowLf) {
      this.#swallowLf = false
      if (text.charCodeAt(0) === LF) from = 1
    }
    let lf = text.indexOf('\n', from)
    let cr = text.indexOf('\r', from)
    // Each search starts where the last one ended, and is made again only once its find was passed: linear.
    for (;;) {
      if (cr < 0 || (lf >= 0 && lf < cr)) {
        if (lf < 0) break
        this.#line(text, from, lf, events)
        from = lf + 1
        lf = text.indexOf('\n', from)
      } else {
        // A lone CR at the end of a chunk ends the line at once: to wait for its LF would hold back an event.
        this.#line(text, from, cr, events)
        from = cr + 1
        if (from === text.length) this.#swallowLf = true
        else if (lf === from) from += 1
        if (lf >= 0 && lf < from) lf = text.indexOf('\n', from)
        cr = text.indexOf('\r', from)
      }
    }
    if (from < text.length) this.#keep(text, from)
  }

  /** A line that ends in this chunk: `text[from, end)`, behind what was kept of it. */
  #line(text: string, from: number, end: number, events: SseEvent[]): void {
    if (this.#lineLength > 0) {
      this.#measureLine(end - from)
      this.#field(this.#takeLine(text.slice(from, end)))
    } else if (from === end) {
      this.#dispatch(events)
    } else if (text.startsWith(USUAL_PREFIX, from)) {
      this.#measureLine(end - from)
      this.#addData(text.slice(from + USUAL_PREFIX.length, end))
    } else {
      this.#measureLine(end - from)
      this.#field(text.slice(from, end))
    }
  }

  #field(line: string): void {
    if (line.startsWith(USUAL_PREFIX)) {
      this.#addData(line.slice(USUAL_PREFIX.length))
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return // a comment
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1)
    if (name === 'data') this.#addData(value)
    else {
      this.#countField()
      if (name === 'event') this.#event = value === '' ? null : value
    }
  }

  #addData(value: string): void {
    this.#countField()
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`
    if (this.#data.length > this.#limits.event) throw new SseLimitError(`An event holds more than ${this.#limits.event} characters.`)
  }

  #dispatch(events: SseEvent[]): void {
    if (this.#data !== null && this.#data !== '') events.push({ event: this.#event, data: this.#data })
    this.#event = null
    this.#data = null
    this.#fields = 0
  }

  #keep(text: string, from: number): void {
    this.#measureLine(text.length - from)
    this.#lineLength += text.length - from
    this.#tail += from === 0 ? text : text.slice(from)
    if (this.#tail.length >= BLOCK) {
      this.#blocks.push(this.#tail)
      this.#tail = ''
    }
  }

  #takeLine(rest: string): string {
    const line = this.#blocks.length === 0 ? this.#tail + rest : this.#blocks.join('') + this.#tail + rest
    this.#blocks = []
    this.#tail = ''
    this.#lineLength = 0
    return line
  }

  #measureLine(more: number): void {
    if (this.#lineLength + more > this.#limits.line) throw new SseLimitError(`A line holds more than ${this.#limits.line} characters.`)
  }

  #countField(): void {
    this.#fields += 1
    if (this.#fields > this.#limits.linesPerEvent) throw new SseLimitError(`An event has more than ${this.#limits.linesPerEvent} lines.`)
  }
}
