/** Compresses a conversation that is too long for the model of its plan (docs/plugins.md). */
import { CONVERSATION_FIELDS } from '../../canonical/conversation-media.ts'
import { measuringInput } from '../../canonical/input-size.ts'
import { readAhead } from '../../formats/call-reader.ts'
import type { Steps } from '../../lib/steps.ts'
import type { Plan, PlannedAttempt } from '../../routing/plan-attempts.ts'
import { compressConversation, DEFAULT_CONTEXT_MAX, wantsCompression } from '../../plugins/context-compression.ts'
import { readAgain } from '../read-call.ts'
import type { Screened } from '../request.ts'
import { estimatedInputTokens } from '../run/estimated-tokens.ts'

interface Fitted {
  readonly screened: Screened
  readonly planned: Plan
}

export function* withinContext(screened: Screened, planned: Plan): Steps<Fitted> {
  const { call, effects } = screened
  const unchanged = { screened, planned }
  const first = planned.attempts[0]
  if (first === undefined) return unchanged
  const wanted = wantsCompression(call.body) ?? (contextOf(first) ?? Infinity) <= DEFAULT_CONTEXT_MAX
  if (!wanted || isForPicturesAlone(call.body.value('modalities')) || isForPicturesAlone(first.model.outputModalities)) return unchanged
  yield* measuringInput(call.body)
  const inputTokens = estimatedInputTokens(call)
  const asked = call.maxOutputTokens ?? 0
  if (inputTokens + asked <= (contextOf(first) ?? Infinity)) return unchanged
  const chosen = chosenFrom(planned.attempts, inputTokens + asked)
  const context = contextOf(chosen)
  // A fallback may have the room that the first endpoint lacks.
  const attempts = planned.attempts.filter((one) => one === chosen || (contextOf(one) ?? Infinity) >= (context ?? Infinity))
  if (context === null) return { screened, planned: { ...planned, attempts } }
  // Even if the output limit takes up the whole context, room must be left for the conversation.
  const room = context * FILLED - Math.min(asked, context / 2)
  yield* readAhead(call.body, [...CONVERSATION_FIELDS])
  const compressed = inputTokens <= room ? null : yield* compressConversation(call.dialect, call.body, inputTokens - room)
  if (compressed === null) return unchanged
  const { body, inputType, originalCount, compressedCount } = compressed
  effects.push({
    type: 'context_compression',
    name: 'context-compression',
    summary: `Compressed: ${originalCount - compressedCount} of ${originalCount} messages were left out of the middle`,
    cost_usd: 0,
    data: { engine: 'middle-out', input_type: inputType, original_count: originalCount, compressed_count: compressedCount },
  })
  return { screened: { ...screened, call: yield* readAgain(screened, body) }, planned: { ...planned, attempts } }
}

/** The tokens are only estimated, so some room is left for the error of the estimate. */
const FILLED = 0.95

/** The first endpoint that holds at least half of the tokens, so that not too much is lost; otherwise the one that holds the most. */
const chosenFrom = (attempts: readonly PlannedAttempt[], needed: number): PlannedAttempt => {
  const able = attempts.find((one) => (contextOf(one) ?? Infinity) * 2 >= needed)
  return able ?? attempts.reduce((most, one) => ((contextOf(one) ?? Infinity) > (contextOf(most) ?? Infinity) ? one : most))
}

const contextOf = ({ endpoint, model }: PlannedAttempt): number | null => endpoint.contextLength ?? model.contextLength

const isForPicturesAlone = (modalities: unknown): boolean =>
  Array.isArray(modalities) && modalities.length > 0 && modalities.every((one) => one === 'image')
