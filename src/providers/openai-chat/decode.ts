/**
 * Decodes Chat Completions from upstreams, whole or in chunks, into events. It is tolerant: it reads only the fields that mean something.
 */
import { type ModelEvent, UNEXPLAINED_REFUSAL } from '../../canonical/event.ts'
import { isObject, objectsIn, textOf } from '../../lib/json/json.ts'
import { spokenCharacters } from '../media/speech.ts'
import { ownMembers } from '../own-members.ts'
import { type CallReader, createCallReader } from './call-reader.ts'
import { modernCalls } from './modern-calls.ts'
import { decodeAnnotations, decodeImages, decodeParts, collectSources, sourcesIn, type Sources } from './decode-content.ts'
import { decodeBlocks, decodeDetails, proofsOfCalls } from './decode-thinking.ts'
import { decodeUsage, usageObject } from './decode-usage.ts'
import { finishReason, finishWord } from './finish-reasons.ts'

type Json = Record<string, unknown>

/** State that spans the chunks of one stream. */
export interface ChatDecoder {
  events(chunk: Json): ModelEvent[]
  /** Takes note of an event of a chunk that was read without this decoder. */
  heard(event: ModelEvent): void
  /** The newest call has all its arguments, so a chunk with more of them has to be read by this decoder. */
  readonly hasWholeCall: boolean
  /** The newest call has an empty object as its arguments, which those of the next chunk may take the place of. */
  readonly hasEmptyCall: boolean
  /** Says, once, the index of the call whose arguments in the chunks before do not count; null if there is none. */
  takeVoided(): number | null
  /** The newest chunk has a form that clients of the dialect cannot read, so it must be rendered from its events. */
  readonly mended: boolean
  /** The newest chunk was changed where it ends its choices, so its text has to be written anew. */
  readonly renamed: boolean
  /**
   * Says, after the end of the first answer, whether others have begun and not ended, or fewer than `answers` have begun; null if neither.
   */
  unfinished(answers: number): 'begun' | 'expected' | null
  /** The events that end a stream which says that it is over but not why; none if nothing was said before. */
  ending(): readonly ModelEvent[]
}

/**
 * `model`: our id of the model that answers, with which the proofs of its thinking are marked. `answer`: `whole` if it comes in one piece.
 */
export const createChatDecoder = (model: string, answer: 'whole' | 'stream' = 'stream'): ChatDecoder => {
  let started = false
  let audio = false
  /** Null before the first call. */
  let calls: CallReader | null = null
  let mended = false
  let renamed = false
  let said = false
  let thought = false
  let refused = false
  let ended = false
  let sources: Sources | null = null
  const beside = new Set<string>()
  const others = new OtherChoices()

  const message = (said: Json, isWhole: boolean, events: ModelEvent[]): void => {
    const details = filledList(said['reasoning_details'])
    const proofs = details === null ? null : proofsOfCalls(details, said['tool_calls'], model)
    const reasoning = textOf(said['reasoning']) || textOf(said['reasoning_content'])
    const blocks = details === null ? filledList(said['thinking_blocks']) : null
    // `reasoning` repeats as text what the details or blocks hold in pieces.
    const isSaid =
      details === null || proofs === null
        ? blocks !== null && decodeBlocks(blocks, reasoning, model, events)
        : decodeDetails(details, model, proofs, events)
    if (!isSaid && reasoning !== '') events.push({ type: 'reasoning', text: reasoning })
    const content = said['content']
    if (typeof content === 'string') {
      if (content !== '') events.push({ type: 'text', text: content })
    } else if (Array.isArray(content)) decodeParts(content, events)
    else if (isObject(content)) events.push({ type: 'text', text: JSON.stringify(content) })
    const refusal = said['refusal']
    if (typeof refusal === 'string' && refusal !== '') {
      refused = true
      events.push({ type: 'refusal', text: refusal })
    }
    const annotations = filledList(said['annotations'])
    if (annotations !== null) decodeAnnotations(annotations, events)
    const images = filledList(said['images'])
    const toolCalls = filledList(modernCalls(said))
    // Sources belong to the whole answer, although some vendors send them before its first word; pictures and calls end its text.
    if (sources !== null && (images ?? toolCalls) !== null) events.push(...sources.take())
    if (images !== null) decodeImages(images, events)
    if (isObject(said['audio']) && Object.values(said['audio']).some(Boolean)) {
      const characters = textOf(said['audio']['transcript']).length + spokenCharacters(textOf(said['audio']['data']))
      if (characters > 0) events.push({ type: 'unknown', kind: 'audio', characters })
      else if (!audio) events.push({ type: 'unknown', kind: 'audio' })
      audio = true
    }
    // Groq ran these tools itself.
    if (filledList(said['executed_tools']) !== null) events.push({ type: 'unknown', kind: 'executed_tools' })
    for (const [position, call] of toolCalls?.entries() ?? [])
      if (isObject(call) && (calls ??= createCallReader(model)).read({ call, position, proofs, isWhole }, events)) mended = true
    if (!isWhole && toolCalls !== null && sharesIndex(toolCalls)) mended = true
  }

  return {
    events(chunk) {
      const events: ModelEvent[] = []
      mended = false
      renamed = nameFinishes(chunk, others)
      const choice = firstChoice(chunk)
      // Perplexity sends both: in a stream `message` has all words so far, in a whole answer `delta` has none.
      const isWhole = isObject(choice?.['message']) && (answer === 'whole' || !isObject(choice['delta']))
      const words = isWhole ? choice?.['message'] : choice?.['delta']
      // Azure first sends a chunk with its filter's results, which has neither a choice nor an id.
      if (!started && (choice !== undefined || textOf(chunk['id']) !== '')) {
        started = true
        events.push({ type: 'start', upstreamId: textOf(chunk['id']) || null })
      }
      const found = sourcesIn(chunk, isObject(words) ? words : {})
      if (found.length > 0) (sources ??= collectSources()).add(found)
      // MiniMax ends a stream with the whole message, without a delta, after all of its pieces.
      const isRepeated = isWhole && (said || thought)
      if (isRepeated) mended = true
      if (choice !== undefined && !isRepeated) {
        if (isObject(words)) message(words, isWhole, events)
        const logprobs = choice['logprobs']
        const chances = isObject(logprobs) ? logprobs['content'] : null
        // They come beside the text, which pictures and calls of the same chunk end.
        const behindText = events.findLastIndex(({ type }) => type === 'text') + 1 || events.length
        if (Array.isArray(chances) && chances.length > 0) events.splice(behindText, 0, { type: 'logprobs', content: chances })
      }
      for (const kind of FOUND_BESIDE) {
        if (beside.has(kind) || filledList(chunk[kind]) === null) continue
        beside.add(kind)
        events.push({ type: 'unknown', kind })
      }
      events.push(...ownMembers('chat', chunk))
      const usage = usageObject(chunk, choice)
      if (usage !== null) events.push({ type: 'usage', usage: decodeUsage(usage, chunk['service_tier'] ?? usage['service_tier']) })
      const finish = choice === undefined ? '' : finishWord(choice)
      const ends = finish !== ''
      if (ended || ends || isWhole) {
        const nameless = calls?.takeNameless() ?? []
        if (nameless.length > 0) mended = true
        events.push(...nameless)
        if (sources !== null) events.push(...sources.take())
      }
      ended ||= ends
      // A failure is not an end by the model; the code that reads the chunk reports it.
      const hasCalls = (calls?.count ?? 0) > 0
      const told = ends ? finishReason(finish, hasCalls) : null
      // The server ran its calls itself, or made none: there is nothing that the client should run.
      const reason = told === 'tool_calls' && !hasCalls ? 'stop' : told
      if (ends && reason !== null) {
        if (finish === 'refusal' && !refused) {
          mended = true
          events.push({ type: 'refusal', text: UNEXPLAINED_REFUSAL, uncounted: true })
        }
        events.push({ type: 'finish', reason, native: finish })
      }
      thought ||= events.some(({ type }) => type === 'reasoning')
      said ||= hasCalls || events.some(({ type }) => type === 'text' || type === 'refusal' || type === 'image')
      return events
    },
    heard: (event) => calls?.heard(event),
    get hasWholeCall() {
      return calls?.isComplete === true
    },
    get hasEmptyCall() {
      return !ended && calls?.isEmptyObject === true
    },
    takeVoided: () => calls?.takeVoided() ?? null,
    get mended() {
      return mended
    },
    get renamed() {
      return renamed
    },
    unfinished: (answers) => (others.areOpen ? 'begun' : 1 + others.count < answers ? 'expected' : null),
    ending: () =>
      said && calls?.isCut !== true
        ? [
            ...(calls?.takeNameless() ?? []),
            ...(sources?.take() ?? []),
            { type: 'finish', reason: (calls?.count ?? 0) > 0 ? 'tool_calls' : 'stop', native: null },
          ]
        : [],
  }
}

/** vLLM may send two pieces of one call in one chunk, of which OpenAI's Python SDK keeps one. */
const sharesIndex = (calls: readonly unknown[]): boolean =>
  calls.length > 1 && new Set(objectsIn(calls).map(({ index }) => index)).size < calls.length

/** Perplexity shows pictures that it found, and further questions, beside the choices of every chunk. */
const FOUND_BESIDE = ['images', 'related_questions'] as const

/** The choices of an answer other than the first: how many have begun, and whether all of those have ended. */
class OtherChoices {
  /** By index: whether the choice has ended, and whether it has made a call. */
  readonly #choices = new Map<number, { ended: boolean; called: boolean }>()

  get count(): number {
    return this.#choices.size
  }

  get areOpen(): boolean {
    return [...this.#choices.values()].some(({ ended }) => !ended)
  }

  /** Returns true if the choice has made a call. */
  note(index: number, choice: Json, ends: boolean): boolean {
    const state = this.#choices.get(index) ?? { ended: false, called: false }
    this.#choices.set(index, state)
    state.ended ||= ends
    for (const said of objectsIn([choice['delta'], choice['message']])) state.called ||= filledList(modernCalls(said)) !== null
    return state.called
  }
}

/**
 * Writes the ends of choices in the words of the dialect: an object becomes its word in every choice. The first choice is named where it is
 * rendered; those beyond it have no events, so their own words are mapped here. Returns true if the chunk was changed.
 */
const nameFinishes = ({ choices }: Json, others: OtherChoices): boolean => {
  if (!Array.isArray(choices)) return false
  let changed = false
  for (const [position, choice] of (choices as unknown[]).entries()) {
    if (!isObject(choice)) continue
    const { index: stated, finish_reason: given } = choice
    const word = finishWord(choice)
    const index = typeof stated === 'number' ? stated : position
    const isOther = index > 0
    const called = isOther && others.note(index, choice, word !== '')
    const named = isOther && word !== '' ? (finishReason(word, called) ?? word) : word
    if (word === '' || named === given) continue
    choice['finish_reason'] = named
    if (isOther) choice['native_finish_reason'] ??= word
    changed = true
  }
  return changed
}

const firstChoice = (chunk: Json): Json | undefined => {
  const choices = chunk['choices']
  return Array.isArray(choices) ? choices.find((choice): choice is Json => isObject(choice) && (choice['index'] ?? 0) === 0) : undefined
}

const filledList = (value: unknown): readonly unknown[] | null => (Array.isArray(value) && value.length > 0 ? value : null)
