/**
 * Relays the chunks of an upstream that speaks this dialect: their own text except for the members that the service owns, and
 * without what would be sent twice: the usage (sent once, at the end) and the end of a choice.
 */
import { JsonBody } from '../../lib/json/json-body.ts'
import { fillerOf, type Filling } from '../../lib/json/json-pattern.ts'
import { JsonTextError } from '../../lib/json/json-limits.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { atOnce, LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import type { NativePattern, NativeText } from '../../canonical/event.ts'
import { isTierName, withoutVendorsTier } from '../answer-parts.ts'
import type { Ending } from '../ending.ts'
import type { AnswerHead } from '../format.ts'
import { identityMembers, oneLine } from '../relay-text.ts'
import {
  choiceIndex,
  choicesText,
  completeChunkChoice,
  finishedChoice,
  hasEnded,
  isCompleteChunkChoice,
  looksComplete,
  numberCalls,
  openChoice,
  readChoices,
  saysMore,
  withRole,
} from './choices.ts'
import { envelopeRepairs } from './relay-answer.ts'

export interface ChunkRelay {
  /** Returns the chunk to send, as one line of JSON; '' if it contains nothing to send; null if it cannot be relayed. A large one takes steps. */
  relay(native: NativeText, ending: Ending): Steps<string | null> | string | null
  /** JSON text of the upstream's latest usage object. */
  readonly usage: string | null
  /** The service tier stated next to that usage. */
  readonly tier: JsonObject
  /** Returns the time that every chunk of the stream states: that of the first chunk, or `offered` if none was sent yet. */
  created(offered: number): number
  /** Call it after a chunk of the first choice was written in another way: the role has been sent. */
  begun(): void
}

/** `finished` holds the indices of the choices that have ended; it is shared with the renderer. */
export const relayChunks = (head: AnswerHead, finished: Set<number>): ChunkRelay => {
  const owned = identityMembers(head.generationId, head)
  const asked = head.request.value('n')
  /** The number of choices that the stream may have. */
  const choicesMax = typeof asked === 'number' ? asked : 1
  const calls = numberCalls()
  let usage: string | null = null
  let tier: JsonObject = {}
  let createdSeconds: number | null = null
  /** The indices of the choices of which a chunk was sent. */
  const begun = new Set<number>()
  /** The latest pattern with the function that fills it; `fill` is null if each text must be processed individually. */
  let known: { readonly pattern: NativePattern; fill?: ((filling: Filling) => string) | null } | null = null

  /** The first chunk of a choice gets a role. */
  const beginning = (choice: JsonBody): JsonBody => {
    const index = choiceIndex(choice)
    if (begun.has(index)) return choice
    begun.add(index)
    return withRole(choice)
  }

  function* relayBody(body: JsonBody, ending: Ending): Steps<string> {
    const changes: Record<string, string | null | undefined> = {
      ...owned,
      ...envelopeRepairs(body, 'chat.completion.chunk', head),
      ...withoutVendorsTier(body),
    }
    const reported = body.get('created')
    // All chunks of a stream must state the same time; Azure's first chunk states zero.
    createdSeconds ??= typeof reported === 'number' && Number.isInteger(reported) && reported > 0 ? reported : head.createdSeconds
    if (reported !== createdSeconds) changes['created'] = String(createdSeconds)
    const rawUsage = body.raw('usage')
    if (rawUsage !== undefined) {
      changes['usage'] = null
      if (rawUsage !== 'null') {
        usage = rawUsage
        const servedTier = body.get('service_tier')
        if (isTierName(servedTier)) tier = { service_tier: servedTier }
      }
    }
    // Strict clients accept only a string or nothing here.
    if (body.get('system_fingerprint') === null) changes['system_fingerprint'] = null

    const raw = body.raw('choices') ?? '[]'
    const isLarge = raw.length > LARGE_BYTES
    if (isLarge) yield
    const { isComplete, isMidway } = isLarge ? yield* largeForm(raw) : formOf(raw)
    if (begun.size < choicesMax || finished.size > 0 || !isMidway) {
      const choices: string[] = []
      for (const [position, reported] of readChoices(raw).entries()) {
        if (isLarge) yield
        const complete = isComplete ? reported : yield* completeChunkChoice(reported, position, calls)
        if (isLarge) yield
        const choice = relayedChoice(beginning(complete), ending, finished)
        if (choice !== null) choices.push(choice)
      }
      if (choices.length === 0 && body.keys.every((key) => ENVELOPE.has(key))) return ''
      changes['choices'] = choicesText(choices)
    }
    if (isLarge) yield
    return oneLine(body.textWith(changes))
  }

  const relayText = (json: string, ending: Ending): string | null => atOnce(relayingText(json, ending))

  function* relayingText(json: string, ending: Ending): Steps<string | null> {
    try {
      return yield* relayBody(JsonBody.ofParsed(json), ending)
    } catch (error) {
      if (error instanceof JsonTextError) return null
      throw error
    }
  }

  return {
    relay({ json, filled }, ending) {
      if (json.length > LARGE_BYTES) return relayingText(json, ending)
      if (filled === undefined || finished.size > 0) return relayText(json, ending)
      const { pattern, filling } = filled
      // The first text of a pattern may be the first of its choice, which alone gets a role.
      if (known?.pattern !== pattern) {
        known = { pattern }
        return relayText(json, ending)
      }
      if (known.fill === undefined) {
        const made = ENDS.test(pattern.skeleton) ? null : relayText(pattern.skeleton, ending)
        known.fill = made === null ? null : fillerOf(made)
      }
      return known.fill === null ? relayText(json, ending) : known.fill(filling)
    },
    get usage() {
      return usage
    },
    get tier() {
      return tier
    },
    created: (offered) => (createdSeconds ??= offered),
    begun: () => void begun.add(0),
  }
}

interface ChoicesForm {
  /** The choices have what strict clients need. */
  readonly isComplete: boolean
  /** The choices need no change: they are complete and none of them ends. */
  readonly isMidway: boolean
}

const formOf = (choices: string): ChoicesForm => {
  const isComplete = looksComplete(choices)
  return { isComplete, isMidway: isComplete && GOES_ON.test(choices) && !ENDS.test(choices) }
}

// Inside a JSON string a quote is preceded by a backslash, so these match only keys, whatever the model says.
const GOES_ON = /"finish_reason"\s*:/
const ENDS = /"finish_reason"\s*:\s*"/

/** In megabytes of quotes each search would stop at every quote, so the members are located instead. */
function* largeForm(choices: string): Steps<ChoicesForm> {
  let isComplete = true
  let isMidway = true
  for (const choice of readChoices(choices)) {
    yield
    isComplete &&= yield* isCompleteChunkChoice(choice)
    isMidway &&= isComplete && choice.has('finish_reason') && choice.raw('finish_reason')?.startsWith('"') !== true
  }
  yield
  return { isComplete, isMidway }
}

/** The text of a choice to send; null if nothing of it is to be sent. */
const relayedChoice = (choice: JsonBody, ending: Ending, finished: Set<number>): string | null => {
  const index = choiceIndex(choice)
  if (finished.has(index)) return saysMore(choice) ? choice.textWith({ finish_reason: 'null', native_finish_reason: null }) : null
  if (!hasEnded(choice)) return openChoice(choice)
  finished.add(index)
  return finishedChoice(choice, ending)
}

/** Members that carry no content by themselves. */
const ENVELOPE: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'provider',
  'system_fingerprint',
  'service_tier',
  'choices',
  'usage',
  'error',
  'obfuscation', // padding against traffic analysis
])
