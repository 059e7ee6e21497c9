/** A request's texts through the filters for input: told, replaced in the body's own bytes, or refused. It fails closed. */
import type { PipelineStage } from '../canonical/pipeline.ts'
import { GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { JsonBody } from '../lib/json-body.ts'
import { JsonTextError } from '../lib/json-scan.ts'
import { createDetections } from './detections.ts'
import type { Filter, FilterSet } from './filter.ts'
import { jsonText, plainText } from './held-text.ts'
import { inputTexts, type InputText } from './input-texts.ts'
import { matchesAcross, type Turn } from './matches-across.ts'
import { createTextScreen, knownInjections, type Report, type Span } from './screen-text.ts'

/** Between these the service does other work, and looks at the clock. */
const TURN_CHARACTERS = 16_384
/** The first look is one pass, so that it may be longer. */
const LOOK_CHARACTERS = 1_000_000

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
  { filters, mayFind }: FilterSet,
  pipeline: PipelineStage[],
  { clock, screenMs }: ScreenLimits,
): Promise<JsonBody> => {
  const { texts, replace } = inputTexts(body)
  const detections = createDetections(pipeline)
  const ofOthers = filters.filter(({ scanScope }) => scanScope !== 'user_only')
  const replacements = new Map<number, string>()
  const deadlineMs = clock.monotonicMs() + screenMs
  let left = TURN_CHARACTERS
  const turn: Turn = async (characters) => {
    left -= characters
    if (left >= 0) return
    left = TURN_CHARACTERS
    if (clock.monotonicMs() > deadlineMs) throw unscreened(new Error('The time for screening is over.'))
    await new Promise<void>((resolve) => clock.after(0, resolve))
  }
  const across = await acrossParts(
    texts,
    { mayFind, filtersFor: ({ byUser }) => (byUser ? filters : ofOthers), report: detections.report },
    turn,
  )
  for (const [index, text] of texts.entries()) {
    await turn(Math.min(text.value.length, TURN_CHARACTERS))
    const chosen = text.byUser ? filters : ofOthers
    const heldText = text.isJson ? jsonText : plainText
    const shared = across.get(index)
    if (shared === undefined && text.value.length <= LOOK_CHARACTERS && !mayBeFound(text, mayFind)) continue
    const known = [...knownInjections(chosen, text.value, heldText, detections.report), ...(shared ?? [])]
    const screen = createTextScreen(chosen, heldText(), detections.report, known)
    let screened = ''
    for (let at = 0; at < text.value.length; at += TURN_CHARACTERS) {
      if (at > 0) await turn(TURN_CHARACTERS)
      screened += screen.push(text.value.slice(at, at + TURN_CHARACTERS))
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
  { mayFind, filtersFor, report }: Pick<FilterSet, 'mayFind'> & { filtersFor: (text: InputText) => readonly Filter[]; report: Report },
  turn: Turn,
): Promise<ReadonlyMap<number, readonly Span[]>> => {
  const spans = new Map<number, readonly Span[]>()
  for (const parts of Map.groupBy([...texts.entries()], ([, { message }]) => message).values()) {
    const [first] = parts
    if (first === undefined || first[1].message === null || parts.length < 2) continue
    const values = parts.map(([, { value }]) => value)
    const joined = values.join('')
    await turn(Math.min(joined.length, TURN_CHARACTERS))
    if (joined.length <= LOOK_CHARACTERS && !mayFind(joined)) continue
    const found = await matchesAcross(values, filtersFor(first[1]), report, turn)
    for (const [at, own] of found.entries()) {
      const index = parts[at]?.[0]
      if (index !== undefined && own.length > 0) spans.set(index, own)
    }
  }
  return spans
}

/** The first look is at the text as it is written; escapes inside a tool's arguments could hide something from it. */
const mayBeFound = ({ value, isJson }: InputText, mayFind: (text: string) => boolean): boolean =>
  (isJson && value.includes('\\')) || mayFind(value)
