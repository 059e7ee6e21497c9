/** Counts the output of one attempt as it arrives. */
import { PARTS_MAX } from '../../canonical/answer-parts.ts'
import type { Call } from '../../canonical/call.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { countsOutput, laterUsage, type Usage } from '../../canonical/usage.ts'
import type { Warning } from '../../canonical/warning.ts'
import { GatewayError } from '../../errors.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import type { Clock } from '../../lib/clock.ts'
import { IMAGE_CHARACTERS } from './estimated-tokens.ts'

export interface AttemptOutput {
  /** Monotonic time of the first content; null before it arrives. */
  readonly contentMs: number | null
  /** The provider's id for its answer. */
  readonly upstreamId: string | null
  readonly finishReason: string | null
  readonly nativeFinishReason: string | null
  /** The newest count that the provider reported. */
  readonly reportedUsage: Usage | null
  /** The length of the whole output; a picture counts as the number of characters that corresponds to its tokens. */
  readonly characters: number
  /** Characters that came after the newest count that the provider reported. */
  readonly uncountedCharacters: number
  /** The losses in translating the answer. */
  readonly losses: readonly Warning[]
}

/** The maximum length of a type's name in a warning: an upstream chooses it. */
const KIND_MAX = 80

/** The maximum number of losses reported for one answer: an upstream can invent any number of types. */
const LOSSES_MAX = 50

const FURTHER_CALLS = 'The model made several calls at once. functions has room for the first of them; the others were left out. Use tools.'

const LATE_SOURCES = 'Sources came after the text of the answer had ended, where this interface has no place for them; they were left out.'

const LATE_CHANCES = 'Log probabilities came while no text was open, where this interface has no place for them; they were left out.'

const ENDS_TEXT: ReadonlySet<ModelEvent['type']> = new Set([
  'text-break',
  'refusal',
  'reasoning',
  'reasoning-end',
  'image',
  'tool-call',
] as const)

export class AnswerSoFar implements AttemptOutput {
  readonly #clock: Clock
  readonly #call: Pick<Call, 'dialect' | 'legacyFunctions'>
  readonly losses: Warning[] = []
  contentMs: number | null = null
  upstreamId: string | null = null
  finishReason: string | null = null
  nativeFinishReason: string | null = null
  reportedUsage: Usage | null = null
  characters = 0
  uncountedCharacters = 0
  #parts = 0
  #isInText = false
  /** Sources came after the text to which they belong had ended. */
  #areSourcesLate = false

  constructor(clock: Clock, call: Pick<Call, 'dialect' | 'legacyFunctions'>) {
    this.#clock = clock
    this.#call = call
  }

  lose(warning: Warning): void {
    this.losses.push(warning)
  }

  /** `rewritten`: the client's answer is rendered from the events. Throws if the answer has more parts than allowed. */
  observe(frames: readonly Frame[], rewritten: boolean): void {
    for (const { events, native } of frames) {
      for (const event of events) {
        this.#noteLate(event, rewritten || native === undefined)
        switch (event.type) {
          case 'text':
          case 'reasoning':
            this.#deliver(event.text.length)
            break
          case 'refusal':
            if (event.uncounted !== true) this.#deliver(event.text.length)
            break
          case 'tool-call':
            this.#part()
            this.#deliver(event.name.length)
            if (this.#call.legacyFunctions === true && event.index > 0) this.#leaveOut(FURTHER_CALLS)
            break
          case 'tool-arguments':
            this.#deliver(event.json.length)
            break
          case 'usage':
            this.reportedUsage = laterUsage(this.reportedUsage, event.usage, this.uncountedCharacters > 0)
            if (countsOutput(event.usage)) this.uncountedCharacters = 0
            break
          case 'finish':
            this.finishReason = event.reason
            this.nativeFinishReason = event.native
            break
          case 'start':
            this.upstreamId = event.upstreamId
            break
          case 'image':
            this.#part()
            this.#deliver(IMAGE_CHARACTERS)
            break
          case 'reasoning-end':
            this.#part()
            break
          case 'text-break':
          case 'citation':
          case 'logprobs':
          case 'own-members':
          // No provider sends the event types below.
          case 'server-tool-start':
          case 'server-tool-progress':
          case 'server-tool-end':
          case 'file-text':
            break
          case 'unknown':
            this.#deliver(event.characters ?? 0)
            if (rewritten || native === undefined) this.#lack(event.kind)
        }
      }
    }
  }

  /** Blocks of Responses and Messages follow one another; a source and log probabilities stand with the text of their block. */
  #noteLate(event: ModelEvent, isRendered: boolean): void {
    if (event.type === 'citation') this.#areSourcesLate ||= !this.#isInText
    else if (event.type === 'logprobs') {
      if (!this.#isInText && event.content.length > 0 && isRendered && this.#call.dialect === 'responses') this.#leaveOut(LATE_CHANCES)
    } else if (event.type === 'text') {
      this.#isInText ||= event.text !== ''
      this.#areSourcesLate &&= !this.#isInText
    } else if (event.type === 'finish') {
      if (this.#areSourcesLate && isRendered && this.#call.dialect !== 'chat') this.#leaveOut(LATE_SOURCES)
    } else if (ENDS_TEXT.has(event.type)) this.#isInText &&= event.type === 'reasoning-end' && event.proof === null
  }

  /**
   * The parts of a stream arrive one by one, but the object at its end repeats all of them, so their number is bounded. Citations do not
   * count: some providers send the same source in each event.
   */
  #part(): void {
    this.#parts += 1
    if (this.#parts > PARTS_MAX)
      throw new GatewayError('provider_unavailable', `The provider sent an answer of more than ${PARTS_MAX} parts.`)
  }

  #lack(kind: string): void {
    this.#leaveOut(`The answer holds a part of type ${cutText(kind, KIND_MAX)}, which could not be translated; it was left out.`)
  }

  /**
   * The client's dialect cannot express a part of the answer. It is too late to refuse, so even a strict request only gets this warning.
   */
  #leaveOut(message: string): void {
    if (this.losses.length >= LOSSES_MAX || this.losses.some((known) => known.message === message)) return
    this.losses.push({ code: 'untranslated_output', field: 'output', message })
  }

  #deliver(characters: number): void {
    if (characters > 0) this.contentMs ??= this.#clock.monotonicMs()
    this.characters += characters
    this.uncountedCharacters += characters
  }
}
