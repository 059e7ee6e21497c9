/**
 * Server-sent events: those that are written to clients, and those that are read from upstreams.
 *
 * They are written in the way that every known client can read (docs/contract/streams.md#framing): LF endings, one line of data, never
 * `id:`, `retry:`, a BOM or an empty `data:`. They are read by the whole grammar of the WHATWG HTML standard.
 */

/** The end marker of every stream, on all three interfaces. */
export const DONE_FRAME = 'data: [DONE]\n\n'

/** A comment, which every parser skips; it keeps connections open. */
export const KEEP_ALIVE_FRAME = ': SERVICE PROCESSING\n\n'

/** A frame of unnamed data. `data` must be one non-empty line, as `JSON.stringify` writes it. */
export const dataFrame = (data: string): string => `data: ${data}\n\n`

/** A named frame. Neither name nor data may contain a line end. */
export const eventFrame = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`

/** Characters that end no line of a stream, but do for readers that split text as Python's `splitlines` does; JSON allows them raw. */
const FOREIGN_LINE_ENDS = /[\u0085\u2028\u2029]/g

/** Writes them as escapes (decisions/0295). In `frames`, every one of them must be within a string of JSON. */
export const escapeForeignLineEnds = (frames: string): string =>
  frames.replace(FOREIGN_LINE_ENDS, (end) => (end === '\u0085' ? '\\u0085' : end === '\u2028' ? '\\u2028' : '\\u2029'))

export interface SseEvent {
  /** The `event` field; null if it is absent or empty. */
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

/** The stream exceeds one of its limits; `message` says which. The decoder must not be used any more. */
export class SseLimitError extends Error {
  override readonly name = 'SseLimitError'
}

const LF = 10
const SPACE = 32
const USUAL_PREFIX = 'data: '

/** Pieces of an unfinished line are joined in blocks of about this size, so that chunks of a single byte stay cheap. */
const BLOCK = 4096

/**
 * Turns bytes into events, in linear time however the bytes are split. `id` and `retry` are parsed
 * and ignored: the service never reconnects to an upstream.
 */
export class SseDecoder {
  /** Keeps the state of a split code point and drops the one leading BOM, even a split one. */
  readonly #utf8 = new TextDecoder()
  readonly #limits: SseLimits
  /** The unfinished line: full blocks, and the piece that still grows. */
  #blocks: string[] = []
  #tail = ''
  #lineLength = 0
  /** The previous chunk ended in CR: an LF at the start of the next one belongs to it. */
  #swallowLf = false
  #event: string | null = null
  #data: string | null = null
  #fields = 0

  constructor(limits: SseLimits = SSE_LIMITS) {
    this.#limits = limits
  }

  /** Returns the events that `chunk` completes. Throws SseLimitError. */
  push(chunk: Uint8Array): SseEvent[] {
    const events: SseEvent[] = []
    this.#read(this.#utf8.decode(chunk, { stream: true }), events)
    return events
  }

  /**
   * Call it at the end of the bytes. Returns the last event if its blank line is missing: the standard discards such an event, but some
   * upstreams end a good stream this way, so the caller decides by its contents.
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
    // Each search starts where the previous one ended, and is repeated only after its result was passed, so the time is linear.
    for (;;) {
      if (cr < 0 || (lf >= 0 && lf < cr)) {
        if (lf < 0) break
        this.#line(text, from, lf, events)
        from = lf + 1
        lf = text.indexOf('\n', from)
      } else {
        // A lone CR at the end of a chunk ends the line at once: waiting for its LF would delay an event.
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

  /** Ends a line with `text[from, end)`, which follows what was kept of the line. */
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
