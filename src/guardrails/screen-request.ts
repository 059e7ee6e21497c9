/** A request's texts through the filters for input: told, replaced in the body's own bytes, or refused. It fails closed. */
import type { PipelineStage } from '../canonical/pipeline.ts'
import { GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { JsonBody } from '../lib/json-body.ts'
import { JsonTextError } from '../lib/json-scan.ts'
import type { Look } from '../lib/regex/any-match.ts'
import { createDetections } from './detections.ts'
import type { Filter, FilterSet } from './filter.ts'
import { jsonText, plainText } from './held-text.ts'
import { inputTexts, type InputText } from './input-texts.ts'
import { matchesAcross } from './matches-across.ts'
import { inTurns, lookAt, piecesOf, type Scan, type Turn } from './scan.ts'
import { createTextScreen, knownInjections, type Report, type Span } from './screen-text.ts'

/** Between these the service does other work. */
const TURN_MS = 5

export interface ScreenLimits {
  readonly clock: Clock
  /** Screening that takes longer refuses the request: what was not looked at does not pass. */
  readonly screenMs: number
}

/** The body to send on. Throws `permission_denied` with `patterns`, and `provider_overloaded` where it cannot tell. */
export const screenBody = async (body: JsonBody, set: FilterSet, pipeline: PipelineStage[], limits: ScreenLimits): Promise<JsonBody> => {
  try {
    return await screenTexts(body, set, pipeline, limits)
  } catch (thrown) {
    if (thrown instanceof GatewayError || thrown instanceof JsonTextError) throw thrown
    throw unscreened(thrown)
  }
}

const unscreened = (cause: unknown): GatewayError =>
  new GatewayError('provider_overloaded', 'The content filters of this key could not check the request, so it was not sent. Try again.', {
    cause,
  })

const screenTexts = async (
  body: JsonBody,
  { filters, look }: FilterSet,
  pipeline: PipelineStage[],
  { clock, screenMs }: ScreenLimits,
): Promise<JsonBody> => {
  const { texts, replace } = inputTexts(body)
  const detections = createDetections(pipeline)
  const ofOthers = filters.filter(({ scanScope }) => scanScope !== 'user_only')
  const replacements = new Map<number, string>()
  const deadlineMs = clock.monotonicMs() + screenMs
  let turnMs = clock.monotonicMs()
  const turn: Turn = async () => {
    const nowMs = clock.monotonicMs()
    if (nowMs - turnMs < TURN_MS) return
    if (nowMs > deadlineMs) throw unscreened(new Error('The time for screening is over.'))
    await new Promise<void>((resolve) => clock.after(0, resolve))
    turnMs = clock.monotonicMs()
  }
  const across = await acrossParts(
    texts,
    { look, filtersFor: ({ byUser }) => (byUser ? filters : ofOthers), report: detections.report },
    turn,
  )
  for (const [index, text] of texts.entries()) {
    const chosen = text.byUser ? filters : ofOthers
    const heldText = text.isJson ? jsonText : plainText
    const shared = across.get(index)
    if (shared === undefined && !(await inTurns(mayBeFound(text, look), turn))) continue
    const known = [...(await inTurns(knownInjections(chosen, text.value, heldText, detections.report), turn)), ...(shared ?? [])]
    const screen = createTextScreen(chosen, heldText(), detections.report, known)
    let screened = ''
    for (const piece of piecesOf(text.value)) {
      screened += screen.push(piece)
      await turn()
    }
    screened += screen.flush()
    if (screened !== text.value) replacements.set(index, screened)
  }
  detections.assertPassed()
  return replacements.size === 0 ? body : replace(replacements)
}

/** By their place in `texts`: what they hold of matches that go on in another part of their message. */
const acrossParts = async (
  texts: readonly InputText[],
  { look, filtersFor, report }: Pick<FilterSet, 'look'> & { filtersFor: (text: InputText) => readonly Filter[]; report: Report },
  turn: Turn,
): Promise<ReadonlyMap<number, readonly Span[]>> => {
  const spans = new Map<number, readonly Span[]>()
  for (const parts of Map.groupBy([...texts.entries()], ([, { message }]) => message).values()) {
    const [first] = parts
    if (first === undefined || first[1].message === null || parts.length < 2) continue
    const values = parts.map(([, { value }]) => value)
    if (!(await inTurns(lookAt(look, values.join('')), turn))) continue
    const found = await inTurns(matchesAcross(values, filtersFor(first[1]), report), turn)
    for (const [at, own] of found.entries()) {
      const index = parts[at]?.[0]
      if (index !== undefined && own.length > 0) spans.set(index, own)
    }
  }
  return spans
}

/** The first look is at the text as it is written; escapes inside a tool's arguments could hide something from it. */
function* mayBeFound({ value, isJson }: InputText, look: () => Look): Scan<boolean> {
  return (isJson && value.includes('\\')) || (yield* lookAt(look, value))
}
