/**
 * Decodes answers of generateContent, whole or in chunks of the same form, into events. It is tolerant: it reads only what means something.
 */
import type { FinishReason, ModelEvent } from '../../canonical/event.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import { isObject, objectsIn, textOf } from '../../lib/json/json.ts'
import { callArguments } from '../tools/call-arguments.ts'
import { spokenCharacters } from '../media/speech.ts'
import { createSourceReader } from './grounding.ts'
import { decodeLogprobs } from './log-probabilities.ts'
import { BEHIND_TEXT, placeOfPicture } from './signatures.ts'
import { createStreamedArguments, type StreamedArguments } from './streamed-arguments.ts'
import { decodeUsage } from './decode-usage.ts'
import { wordSet } from '../../lib/text/word-set.ts'

type Json = Readonly<Record<string, unknown>>

/** State that spans the chunks of one answer. */
export interface GoogleDecoder {
  events(chunk: Json): ModelEvent[]
  /** Returns how the model ended; null if it has not. The dialect has no end marker, so this is read at the end of the bytes. */
  ending(): Ending | null
}

export interface Ending {
  /** Null if this end is a failure. */
  readonly reason: FinishReason | null
  readonly native: string
  readonly message: string | null
}

/**
 * `modelId`: our id of the model, with which its proofs are marked. `searchesByPrompt`: all searches of an answer are charged as one.
 */
export const createGoogleDecoder = (modelId: string, searchesByPrompt = false): GoogleDecoder => {
  const sources = createSourceReader()
  let started = false
  let answerId = ''
  let callCount = 0
  let saidAnything = false
  let native: string | null = null
  let message: string | null = null
  /** The call whose arguments are still arriving. */
  let open: { readonly index: number; readonly args: StreamedArguments } | null = null
  let misplaced = false
  let pictureCount = 0
  /** A signature behind a text ends it, and the sources of the text may still come, so it is held until anything else does. */
  let behindWords: ReasoningProof | null = null

  const release = (): ModelEvent[] => {
    const proof = behindWords
    behindWords = null
    return proof === null ? [] : [{ type: 'reasoning-end', proof }]
  }

  const proofOf = (part: Json): ReasoningProof | null => {
    const data = textOf(part['thoughtSignature'])
    if (data === '') return null
    const picture = isObject(part['inlineData']) ? placeOfPicture(pictureCount) : null
    const id = part['text'] === '' ? BEHIND_TEXT : picture
    return { format: 'google-gemini-v1', kind: 'signature', data, ...(id === null ? {} : { id }), model: modelId }
  }

  const functionCall = (call: Json, part: Json): ModelEvent[] => {
    const name = textOf(call['name'])
    if (name === '') return open === null ? [{ type: 'unknown', kind: 'functionCall' }] : more(call)
    const before = close()
    const index = callCount
    callCount += 1
    // Older models give calls no ids. Ours contain the id of the answer, so that they differ from those of other answers.
    const id = textOf(call['id']) || ['call', answerId, String(index)].filter((piece) => piece !== '').join('_')
    const proof = proofOf(part)
    const opened: ModelEvent = { type: 'tool-call', index, id, name, ...(proof === null ? {} : { proof }) }
    if (call['willContinue'] !== true && call['partialArgs'] === undefined)
      return [...before, opened, { type: 'tool-arguments', index, json: callArguments(call['args']) || '{}' }]
    open = { index, args: createStreamedArguments() }
    return [...before, opened, ...more(call)]
  }

  /** Adds a piece to the open call; a piece without `willContinue` is its last. */
  const more = (call: Json): ModelEvent[] => {
    misplaced ||= open?.args.add(call['partialArgs']) === false
    return call['willContinue'] === true ? [] : close()
  }

  const close = (): ModelEvent[] => {
    if (open === null) return []
    const { index, args } = open
    open = null
    const json = args.json()
    // A call during which the model was cut off is incomplete and must not look complete.
    return [{ type: 'tool-arguments', index, json: native !== null && CUT_OFF.has(native) ? json.slice(0, -1) : json }]
  }

  const content = (part: Json): ModelEvent[] => {
    const { text, inlineData } = part
    if (typeof text === 'string') {
      if (text === '') return []
      if (part['thought'] === true) return [{ type: 'reasoning', text }]
      sources.said(text)
      return [{ type: 'text', text }]
    }
    if (isObject(inlineData)) {
      const mimeType = textOf(inlineData['mimeType'])
      if (part['thought'] !== true && mimeType.startsWith('image/'))
        return [{ type: 'image', url: `data:${mimeType};base64,${textOf(inlineData['data'])}` }]
      if (part['thought'] === true) return [{ type: 'unknown', kind: 'thought' }]
      const characters = mimeType.startsWith('audio/') ? spokenCharacters(textOf(inlineData['data'])) : 0
      return [{ type: 'unknown', kind: 'inlineData', characters }]
    }
    const kind = Object.keys(part).find((key) => !MARKS.has(key))
    return kind === undefined ? [] : [{ type: 'unknown', kind }]
  }

  const partEvents = (part: Json): ModelEvent[] => {
    if (isObject(part['functionCall'])) return [...release(), ...functionCall(part['functionCall'], part)]
    const proof = proofOf(part)
    // A signature comes after the part that it vouches for, even if that part is a text.
    const said = content(part)
    if (said.some(({ type }) => type === 'image')) pictureCount += 1
    const before = said.length > 0 || proof !== null ? release() : []
    // A part that cannot go back takes its signature with it: on another part it would vouch for what the model did not say.
    if (proof === null || said.some(({ type }) => type === 'unknown')) return [...before, ...said]
    if (typeof part['text'] !== 'string' || part['thought'] === true) return [...before, ...said, { type: 'reasoning-end', proof }]
    behindWords = proof
    return [...before, ...said]
  }

  const candidateEvents = (candidate: Json): ModelEvent[] => {
    const parts = isObject(candidate['content']) ? objectsIn(candidate['content']['parts']) : []
    const events = parts.flatMap(partEvents)
    saidAnything ||= events.some(({ type }) => type !== 'unknown')
    events.splice(behindText(events), 0, ...aboutText(candidate))
    const finish = textOf(candidate['finishReason'])
    if (finish !== '' && finish !== 'FINISH_REASON_UNSPECIFIED') {
      native = finish
      message = textOf(candidate['finishMessage']) || null
      events.push(...release(), ...close())
    }
    return events
  }

  const aboutText = (candidate: Json): ModelEvent[] => {
    const logprobs = decodeLogprobs(candidate['logprobsResult'])
    return [
      ...(logprobs.length > 0 ? [{ type: 'logprobs', content: logprobs } as const] : []),
      ...sources.citations(candidate).map((citation) => ({ type: 'citation', citation }) as const),
    ]
  }

  return {
    events(chunk) {
      const events: ModelEvent[] = []
      if (!started) {
        started = true
        answerId = textOf(chunk['responseId']).replaceAll(/[^\w-]/g, '')
        events.push({
          type: 'start',
          upstreamId: textOf(chunk['responseId']) || null,
        })
      }
      const candidate = firstCandidate(chunk)
      if (candidate !== undefined) events.push(...candidateEvents(candidate))
      const usage = chunk['usageMetadata']
      if (isObject(usage))
        events.push({ type: 'usage', usage: decodeUsage(usage, searchesByPrompt ? Math.min(1, sources.searches) : sources.searches) })
      return events
    },
    ending() {
      if (native === null) return null
      // A call whose arguments could not be put together cannot be run.
      const reason = misplaced ? null : reasonOf(native, callCount > 0, saidAnything)
      return { reason, native: misplaced ? 'MALFORMED_FUNCTION_CALL' : native, message }
    },
  }
}

/**
 * Returns the place for sources and probabilities of the text. They come beside the parts, but a signature or a call behind the text ends
 * it. A chunk without text is about the text of the chunks before.
 */
const behindText = (events: readonly ModelEvent[]): number => events.findLastIndex(({ type }) => type === 'text') + 1

export const firstCandidate = (chunk: Json): Json | undefined =>
  objectsIn(chunk['candidates']).find((candidate) => (candidate['index'] ?? 0) === 0)

/** Members of a part that describe it, but are not its content. */
const MARKS: ReadonlySet<string> = wordSet(
  `thought thoughtSignature partMetadata mediaProcessing mediaResolution speechMetadata videoMetadata
  audioMetadata documentMetadata spreadsheetMetadata`,
)

/** A limit ended the answer: the one that the client set, or Google's own for one request. */
const CUT_OFF: ReadonlySet<string> = new Set(['MAX_TOKENS', 'CONTINUATION'])

const FILTERED: ReadonlySet<string> = wordSet(`
  SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII LANGUAGE MODEL_ARMOR ESCALATION IMAGE_SAFETY
  IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION
`)

/** The model failed: another try, or another provider, may succeed. */
const BROKEN: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  // The account is limited, because it broke a rule of use.
  'PUP_LIMITED_DISABLED',
])

/** An end for an unspecified reason counts as an end only if something was said. */
const reasonOf = (native: string, called: boolean, said: boolean): FinishReason | null => {
  if (CUT_OFF.has(native)) return 'length'
  if (FILTERED.has(native)) return 'content_filter'
  if (BROKEN.has(native)) return null
  if (native !== 'STOP' && !said) return null
  return called ? 'tool_calls' : 'stop'
}
