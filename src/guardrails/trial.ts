/**
 * Tries filters on a text without a request: the outcome is decided by the screens of real requests, and each filter is then run
 * separately to find its matches. Nothing is recorded, and no moderation endpoint is called.
 */
import type { Frame } from '../canonical/event.ts'
import type { Effect } from '../canonical/effect.ts'
import { GatewayError } from '../errors.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import type { JsonObject, JsonValue } from '../lib/json/json.ts'
import { writeInSteps } from '../lib/json/json-steps.ts'
import { createDetections, isGuardrailBlock } from './detections.ts'
import { assertRegion, type Effective } from './effective.ts'
import type { Filter } from './filter.ts'
import { inputTexts, type InputText } from './input-texts.ts'
import { matchesAcross } from './matches-across.ts'
import { piecesOf, type Scan } from './scan.ts'
import { createOutputScreen } from './screen-output.ts'
import { heeds, inTime, screenBody, type ScreenLimits, screenText } from './screen-request.ts'
import { mergeSpan, type Span, unite } from './screen-text.ts'

export interface TrialMatch {
  /** Offset in UTF-16 units of the text. */
  readonly start: number
  readonly end: number
  readonly label: string
  /** The indices of the message and of the text within it. */
  readonly message: number
  readonly part: number
}

export interface TrialStage {
  readonly filter: Filter
  readonly matches: readonly TrialMatch[]
  readonly ms: number
}

/** The outcome for a text. */
export interface Verdict {
  readonly outcome: 'passed' | 'flagged' | 'redacted' | 'blocked'
  /** The reason if it is blocked. */
  readonly error: GatewayError | null
  /** The findings as a real request reports them: never the matched text. */
  readonly effects: readonly Effect[]
}

export interface Trial extends Omit<Verdict, 'effects'> {
  readonly stages: readonly TrialStage[]
  /** The messages that would be sent; null if nothing would be. */
  readonly messages: readonly JsonValue[] | null
}

/** Tries messages of Chat Completions as those of a request. Throws `provider_overloaded` if it takes too long. */
export const tryInput = async (messages: readonly JsonValue[], effective: Effective | null, limits: ScreenLimits): Promise<Trial> => {
  const filters = effective?.input?.filters ?? []
  const texts = await inTime(textsOf(messages), limits)
  const stages = await stagesOf(filters, texts, limits)
  const body = await inTime(bodyOf(messages), limits)
  const { after, outcome, error } = await judgeInput(body, effective, limits)
  if (after === null) return { stages, outcome, error, messages: null }
  // Unchanged messages are returned as given.
  return { stages, outcome, error, messages: after === body ? messages : await inTime(messagesOf(after), limits) }
}

/** Tries a text as a model's answer. Throws as `tryInput` does. */
export const tryOutput = async (text: string, effective: Effective | null, limits: ScreenLimits): Promise<Trial> => {
  const output = effective?.output ?? null
  const spoken: InputText = { ...SAID, value: text }
  const stages = await stagesOf(output?.filters ?? [], [{ message: 0, texts: [spoken] }], limits)
  const { after, outcome, error } = await judgeOutput(text, effective, limits)
  return { stages, outcome, error, messages: after === null ? null : [answerOf(after)] }
}

/** `after`: the body that would be sent; null if nothing would be. Throws as `tryInput` does. */
export const judgeInput = (
  body: JsonBody,
  effective: Effective | null,
  limits: ScreenLimits,
): Promise<Verdict & { readonly after: JsonBody | null }> =>
  judged(body, async (effects) => {
    if (effective === null) return body
    assertRegion(effective)
    return effective.input === null ? body : screenBody(body, effective.input, effects, limits)
  })

/** Like `judgeInput`, for a text as a model's answer. */
export const judgeOutput = (
  text: string,
  effective: Effective | null,
  limits: ScreenLimits,
): Promise<Verdict & { readonly after: string | null }> => {
  const output = effective?.output ?? null
  return judged(text, async (effects) => (output === null ? text : inTime(screenedAnswer(text, output, effects), limits)))
}

const judged = async <Said>(
  before: Said,
  screen: (effects: Effect[]) => Promise<Said>,
): Promise<Verdict & { readonly after: Said | null }> => {
  const effects: Effect[] = []
  try {
    const after = await screen(effects)
    const unchanged = effects.length > 0 ? 'flagged' : 'passed'
    return { after, outcome: after === before ? unchanged : 'redacted', error: null, effects }
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || (thrown.type !== 'permission_denied' && !isGuardrailBlock(thrown))) throw thrown
    return { after: null, outcome: 'blocked', error: thrown, effects }
  }
}

const SAID = { isJson: false, byUser: false, isProse: true, isFixed: false, isCredential: false, message: null } as const

function* screenedAnswer(text: string, output: NonNullable<Effective['output']>, effects: Effect[]): Scan<string> {
  const screen = createOutputScreen(output, createDetections(effects, 'Response'), () => false)
  const frames: Frame[] = []
  for (const piece of piecesOf(text)) {
    frames.push(...(yield* screen.frames([{ events: [{ type: 'text', text: piece }] }])))
  }
  frames.push(...(yield* screen.frames([{ events: [{ type: 'finish', reason: 'stop', native: null }] }])), ...screen.end())
  return frames.flatMap(({ events }) => events.map((event) => (event.type === 'text' ? event.text : ''))).join('')
}

const answerOf = (content: string): JsonObject => ({ role: 'assistant', content })

/** A trial may have as much text as a request, so it is written and read in steps too. */
function* bodyOf(messages: readonly JsonValue[]): Scan<JsonBody> {
  const text = yield* writeInSteps({ messages })
  yield
  return JsonBody.read(text)
}

function* messagesOf(body: JsonBody): Scan<readonly JsonValue[]> {
  return ((yield* body.parsing('messages')) ?? []) as readonly JsonValue[]
}

interface MessageTexts {
  readonly message: number
  readonly texts: readonly InputText[]
}

function* textsOf(messages: readonly JsonValue[]): Scan<readonly MessageTexts[]> {
  const all: MessageTexts[] = []
  for (const [message, value] of messages.entries()) {
    const { texts } = yield* inputTexts(yield* bodyOf([value]))
    all.push({ message, texts })
    yield
  }
  return all
}

const stagesOf = async (
  filters: readonly Filter[],
  messages: readonly MessageTexts[],
  limits: ScreenLimits,
): Promise<readonly TrialStage[]> => {
  const stages: TrialStage[] = []
  for (const filter of filters) {
    const startedMs = limits.clock.monotonicMs()
    const matches = await inTime(matchesOf(filter, messages), limits)
    stages.push({ filter, matches, ms: Math.round((limits.clock.monotonicMs() - startedMs) * 1000) / 1000 })
  }
  return stages
}

function* matchesOf(filter: Filter, messages: readonly MessageTexts[]): Scan<readonly TrialMatch[]> {
  const matches: TrialMatch[] = []
  for (const { message, texts } of messages) {
    const heeded = texts.map((text) => heeds(filter, text))
    const across = yield* spansAcross(filter, texts, heeded)
    for (const [part, text] of texts.entries()) {
      if (heeded[part] !== true) continue
      const spans: Span[] = []
      const report = (_: Filter, __: string | null, from: number, to: number): void => mergeSpan(spans, from, to, filter.label)
      yield* screenText(text, { filters: [filter], report }, [])
      const all = unite([...spans, ...(across.get(part) ?? [])])
      matches.push(...all.map(({ from, to, label }) => ({ start: from, end: to, label, message, part })))
    }
  }
  return matches
}

/** The findings, by part, when the parts of a message are read as one text. */
function* spansAcross(filter: Filter, texts: readonly InputText[], heeded: readonly boolean[]): Scan<ReadonlyMap<number, readonly Span[]>> {
  const found = new Map<number, readonly Span[]>()
  for (const byUser of [true, false]) {
    const places = [...texts.entries()].filter(([part, text]) => text.message !== null && text.byUser === byUser && heeded[part] === true)
    if (places.length < 2) continue
    const marking: Filter = { ...filter, action: 'redact' }
    const spans = yield* matchesAcross(
      places.map(([, { value }]) => value),
      [marking],
      () => undefined,
    )
    for (const [index, own] of spans.entries()) {
      const place = places[index]
      if (place !== undefined && own.length > 0)
        found.set(
          place[0],
          own.map((span) => ({ ...span, label: filter.label })),
        )
    }
  }
  return found
}
