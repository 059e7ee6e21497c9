/** Renders a stream of chat completion chunks (docs/contract/chat-completions.md#stream). */
import { type Frame, type ModelEvent, PARAGRAPH_BREAK } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { DONE_FRAME, dataFrame } from '../../lib/network/sse.ts'
import { atOnce, type Steps } from '../../lib/steps.ts'
import { endingOnce, errorMetadataMember, metadataMember, tierMember } from '../answer-parts.ts'
import { watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail, Echo, StreamRenderer, Written } from '../format.ts'
import { mergedUsage } from '../merged-usage.ts'
import { hasLargeText } from '../relay-text.ts'
import { writtenInSteps } from '../written-in-steps.ts'
import { signatureOfCall } from './call-signature.ts'
import { annotation, fileAnnotation, image, logprobs } from './message-parts.ts'
import { createReasoningDetails } from './reasoning-details.ts'
import { relayChunks } from './relay-stream.ts'
import { errorMember } from './render-error.ts'
import { chatUsage } from './usage.ts'

/** Writes content chunks, one chunk with the finish reason, one with the usage, and `[DONE]`. */
export const openStream = (head: AnswerHead): StreamRenderer<Written> => endingOnce(new ChatStream(head))

const ROLE = '"role":"assistant",'
const FINISH: ModelEvent = { type: 'finish', reason: 'stop', native: null }
const CHOICE_END = ',"finish_reason":null}]}\n\n'

/** The text of a chunk before its choices. */
const envelope = (id: string, created: number, model: string, provider: string | null): string =>
  `{"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},` +
  `"model":${JSON.stringify(model)},"provider":${JSON.stringify(provider)},`

class ChatStream implements StreamRenderer<Written> {
  /** The text of a chunk before its choices, and the beginning of a chunk with a delta: constant within a stream. */
  #envelope = ''
  #created = 0
  #delta = ''
  readonly #head: AnswerHead
  readonly #ending = watchEnding()
  /** Indices of the choices whose end was sent. Our only choice has index 0; a relayed upstream may have more. */
  readonly #finished = new Set<number>()
  readonly #relay: ReturnType<typeof relayChunks>
  /** Calls without arguments so far. */
  readonly #bareCalls = new Set<number>()
  /** Calls of tools that take any text. */
  readonly #customCalls = new Set<number>()
  readonly #details = createReasoningDetails()
  /** UTF-16 units of the text so far. */
  #saidLength = 0
  #imageCount = 0
  /** JSON texts of the sources so far. */
  #annotations: string[] = []
  #role = ROLE
  #isRelayed = false
  #echoes: readonly Echo[]

  constructor(head: AnswerHead) {
    this.#head = head
    this.#echoes = head.echoes ?? []
    this.#relay = relayChunks(head, this.#finished)
    this.#describe(head.createdSeconds)
  }

  #describe(createdSeconds: number): void {
    const { generationId, model, provider } = this.#head
    this.#created = createdSeconds
    this.#envelope = envelope(generationId, createdSeconds, model, provider)
    this.#delta = `data: ${this.#envelope}"choices":[{"index":0,"delta":{`
  }

  frames(frames: readonly Frame[]): Written {
    const relaying = this.#frames(frames)
    return frames.some(hasLargeText) ? writtenInSteps(relaying) : atOnce(relaying)
  }

  *#frames(frames: readonly Frame[]): Steps<string> {
    let out = this.#echo()
    for (const frame of frames) {
      for (const event of frame.events) this.#ending.see(event)
      const relayed = frame.native?.dialect === 'chat' ? this.#relay.relay(frame.native, this.#ending) : null
      const chunk = typeof relayed === 'object' && relayed !== null ? yield* relayed : relayed
      if (chunk === null) {
        for (const event of frame.events) out += this.#event(event)
        // The chunk that ends the answer may be the upstream's own.
        if (frame.native?.dialect === 'chat') out += this.#sources()
        if (out === '') continue
        this.#relay.created(this.#created)
        this.#relay.begun()
      } else if (chunk !== '') {
        // Our own chunks must state the same time as the upstream's.
        const created = this.#relay.created(this.#created)
        if (created !== this.#created) this.#describe(created)
        this.#role = ''
        this.#isRelayed = true
        // The call may have begun in a chunk that was written here.
        for (const event of frame.events) if (event.type === 'tool-arguments') this.#bareCalls.delete(event.index)
        out += dataFrame(chunk)
      }
    }
    return out
  }

  finish(tail: AnswerTail): string {
    const echo = this.#echo()
    const usage = mergedUsage(this.#relay.usage, chatUsage(tail))
    const members = { ...this.#ownMembers(), ...tierMember(tail), ...this.#relay.tier, ...metadataMember(tail) }
    const rest = Object.entries(members).map(([field, value]) => `,"${field}":${JSON.stringify(value)}`)
    return `${echo}${this.#event(FINISH)}${this.#sources()}${dataFrame(`${this.#envelope}"choices":[],"usage":${usage}${rest.join('')}}`)}${DONE_FRAME}`
  }

  /** A relayed chunk has them already. */
  #ownMembers(): JsonObject {
    return this.#isRelayed ? {} : this.#ending.own('chat')
  }

  /** Ends the stream: only the end marker follows (docs/contract/chat-completions.md#error-chunk). */
  fail(error: GatewayError, tail: AnswerTail | null): string {
    const native = this.#ending.native
    const rest = {
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error', ...(native === null ? {} : { native_finish_reason: native }) }],
      ...errorMetadataMember(error, tail),
    }
    // go-openai recognises an error by the beginning of the line (decisions/0218).
    const chunk = `{"error":${JSON.stringify(errorMember(error))},${this.#envelope.slice(1)}${JSON.stringify(rest).slice(1)}`
    return this.#echo() + this.#sources() + dataFrame(chunk) + DONE_FRAME
  }

  /** Written once, before anything else: a chunk for each body that was sent upstream (docs/contract/debugging.md#echo). */
  #echo(): string {
    if (this.#echoes.length === 0) return ''
    const chunks = this.#echoes.map(({ provider, model, body }) =>
      dataFrame(`${envelope(this.#head.generationId, this.#created, model, provider)}"choices":[],"debug":{"echo_upstream_body":${body}}}`),
    )
    this.#echoes = []
    this.#relay.created(this.#created)
    return chunks.join('')
  }

  #event(event: ModelEvent): string {
    const details = this.#details.pieces(event)
    // Thinking and its details are sent in one chunk; details that an event ends are sent before its content.
    if (event.type === 'reasoning') return details.length === 0 ? '' : this.#reasoning(event.text, details)
    return (details.length === 0 ? '' : this.#chunk(`"reasoning_details":${JSON.stringify(details)}`)) + this.#content(event)
  }

  #reasoning(text: string, details: readonly JsonObject[]): string {
    return this.#chunk(`"reasoning":${JSON.stringify(text)},"reasoning_details":${JSON.stringify(details)}`)
  }

  #content(event: ModelEvent): string {
    switch (event.type) {
      case 'text':
        this.#saidLength += event.text.length
        return event.text === '' ? '' : this.#chunk(`"content":${JSON.stringify(event.text)}`)
      case 'text-break':
        return this.#content({ type: 'text', text: PARAGRAPH_BREAK })
      case 'refusal':
        return event.text === '' ? '' : this.#chunk(`"refusal":${JSON.stringify(event.text)}`)
      case 'citation':
        return this.#keepSource(annotation(event.citation, this.#saidLength))
      case 'file-text':
        return this.#keepSource(fileAnnotation(event.file))
      case 'image':
        return this.#chunk(`"images":${JSON.stringify([image(event.url, this.#imageCount++)])}`)
      case 'logprobs':
        return event.content.length === 0 ? '' : this.#chunk('"content":""', `,"logprobs":${JSON.stringify(logprobs(event.content))}`)
      case 'tool-call': {
        if (event.custom === true) return this.#customCall(event.index, event.id, event.name)
        this.#bareCalls.add(event.index)
        const { index, id, name, proof } = event
        return this.#chunk(
          `"tool_calls":[${JSON.stringify({ index, id, type: 'function', function: { name, arguments: '' }, ...signatureOfCall(proof) })}]`,
        )
      }
      case 'tool-arguments':
        return event.json === '' ? '' : this.#arguments(event.index, event.json)
      case 'finish':
        return this.#finishChunk()
      case 'server-tool-end':
        return (event.outcome.pictures ?? []).map((url) => this.#content({ type: 'image', url })).join('')
      case 'start':
      case 'server-tool-start':
      case 'server-tool-progress':
      case 'reasoning':
      case 'reasoning-end':
      case 'own-members':
      case 'unknown':
      case 'usage':
        return ''
    }
  }

  #keepSource(source: JsonObject): string {
    const text = JSON.stringify(source)
    this.#head.keep?.(text.length)
    this.#annotations.push(text)
    return ''
  }

  /** All sources stand in one delta: of several, OpenAI's SDKs keep the last, or break. */
  #sources(): string {
    if (this.#annotations.length === 0) return ''
    const list = this.#annotations.join(',')
    this.#annotations = []
    return this.#chunk(`"annotations":[${list}]`)
  }

  #customCall(index: number, id: string, name: string): string {
    this.#customCalls.add(index)
    const called = `"custom":{"name":${JSON.stringify(name)},"input":""}`
    return this.#chunk(`"tool_calls":[{"index":${index},"id":${JSON.stringify(id)},"type":"custom",${called}}]`)
  }

  #arguments(index: number, json: string): string {
    if (this.#customCalls.has(index)) return this.#chunk(`"tool_calls":[{"index":${index},"custom":{"input":${JSON.stringify(json)}}}]`)
    this.#bareCalls.delete(index)
    return this.#chunk(`"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(json)}}}]`)
  }

  /** `beside`: members of the choice, next to its delta. */
  #chunk(members: string, beside = ''): string {
    const text = `${this.#delta}${this.#role}${members}}${beside}${CHOICE_END}`
    this.#role = ''
    return text
  }

  #finishChunk(): string {
    if (this.#finished.has(0)) return ''
    this.#finished.add(0)
    let out = this.#sources()
    // A call without arguments gets an empty object: clients parse the text as JSON without checking.
    for (const index of this.#bareCalls) out += this.#arguments(index, '{}')
    const delta = this.#role === '' ? '' : '"role":"assistant","content":""'
    const { reason, native } = this.#ending
    return `${out}${this.#delta}${delta}},"finish_reason":"${reason}","native_finish_reason":${JSON.stringify(native)}}]}\n\n`
  }
}
