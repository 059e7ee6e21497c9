/** Captures the answer that a client got for traces: bounded, and given up as a whole if it grows too large. */
import type { TracedContent, TracedPart } from '../../broadcast/request-trace.ts'
import type { Frame, TakeFrames } from '../../canonical/event.ts'
import type { ContentRoom } from './content-room.ts'

/** The maximum number of characters of one answer. */
const ANSWER_MAX = 512 * 1024

type Part =
  | { readonly type: 'text' | 'reasoning'; readonly pieces: string[] }
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly pieces: string[] }

export class CapturedAnswer {
  readonly #room: ContentRoom
  readonly #parts: Part[] = []
  readonly #calls = new Map<number, Part>()
  readonly toolCalls: Map<string, { readonly arguments: string; readonly result: string | null }> = new Map()
  #held = 0
  #isLeftOut = false

  /** `bytes`: the size of the request, which is kept in memory as long. */
  constructor(room: ContentRoom, bytes: number) {
    this.#room = room
    this.#grow(bytes, true)
  }

  /** True if there was no room for the content. */
  get isLeftOut(): boolean {
    return this.#isLeftOut
  }

  observing(take: TakeFrames): TakeFrames {
    return (frames) => {
      if (!this.#isLeftOut) this.#observe(frames)
      return take(frames)
    }
  }

  get output(): TracedContent['output'] {
    return this.#parts.map((part): TracedPart => {
      const text = part.pieces.join('')
      return part.type === 'tool_call'
        ? { type: 'tool_call', id: part.id, name: part.name, arguments: text }
        : { type: part.type, content: text }
    })
  }

  /** Releases the room that the content took. */
  free(): void {
    this.#room.free(this.#held)
    this.#held = 0
  }

  #observe(frames: readonly Frame[]): void {
    for (const { events } of frames) {
      for (const event of events) {
        switch (event.type) {
          case 'text':
          case 'refusal':
            this.#say('text', event.text)
            break
          case 'reasoning':
            this.#say('reasoning', event.text)
            break
          case 'text-break':
            this.#parts.push({ type: 'text', pieces: [] })
            break
          case 'image':
            this.#parts.push({ type: 'text', pieces: ['[image]'] })
            break
          case 'tool-call': {
            const part: Part = { type: 'tool_call', id: event.id, name: event.name, pieces: [] }
            this.#calls.set(event.index, part)
            this.#parts.push(part)
            break
          }
          case 'tool-arguments':
            if (this.#grow(event.json.length)) this.#calls.get(event.index)?.pieces.push(event.json)
            break
          case 'server-tool-end': {
            const { call, outcome } = event
            if (this.#grow(call.arguments.length + outcome.text.length)) {
              this.toolCalls.set(call.id, { arguments: call.arguments, result: outcome.text })
            }
            break
          }
          case 'start':
          case 'citation':
          case 'reasoning-end':
          case 'server-tool-start':
          case 'server-tool-progress':
          case 'file-text':
          case 'logprobs':
          case 'own-members':
          case 'unknown':
          case 'usage':
          case 'finish':
            break
        }
      }
    }
  }

  #say(type: 'text' | 'reasoning', text: string): void {
    if (text === '' || !this.#grow(text.length)) return
    const last = this.#parts.at(-1)
    if (last?.type === type) last.pieces.push(text)
    else this.#parts.push({ type, pieces: [text] })
  }

  /** Takes room for this many more characters; returns false, and drops the content, if there is none. */
  #grow(length: number, isRequest = false): boolean {
    if (this.#isLeftOut) return false
    const fits = (isRequest || this.#held + length <= ANSWER_MAX + this.#requestBytes) && this.#room.take(length)
    if (fits) {
      this.#held += length
      if (isRequest) this.#requestBytes = length
      return true
    }
    this.#isLeftOut = true
    this.#parts.length = 0
    this.toolCalls.clear()
    this.free()
    return false
  }

  #requestBytes = 0
}
