/**
 * A text through filters without a request: what becomes of it is decided by the screens of real requests, and each
 * filter is then asked by itself where it finds something. Nothing is recorded, and no moderation endpoint is asked.
 */
import type { PipelineStage } from '../canonical/pipeline.ts'
import { GatewayError } from '../errors.ts'
import { JsonBody } from '../lib/json-body.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'
import { createDetections, isGuardrailBlock } from './detections.ts'
import { assertRegion, type Effective } from './effective.ts'
import type { Filter } from './filter.ts'
import { inputTexts, type InputText } from './input-texts.ts'
import { matchesAcross } from './matches-across.ts'
import type { Scan } from './scan.ts'
import { createOutputScreen } from './screen-output.ts'
import { heeds, inTime, screenBody, type ScreenLimits, screenText } from './screen-request.ts'
import { mergeSpan, type Span, unite } from './screen-text.ts'

export interface TrialMatch {
  /** In UTF-16 units of the text. */
  readonly start: number
  readonly end: number
  readonly label: string
  /** Which message, and which of its texts. */
  readonly message: number
  readonly part: number
}

export interface TrialStage {
  readonly filter: Filter
  readonly matches: readonly TrialMatch[]
  readonly ms: number
}

export interface Trial {
  readonly stages: readonly TrialStage[]
  readonly outcome: 'passed' | 'flagged' | 'redacted' | 'blocked'
  /** Why it is blocked. */
  readonly error: GatewayError | null
  /** The body that goes on; null where nothing does. */
  readonly messages: readonly JsonValue[] | null
}

/** Messages of Chat Completions as a request's. Throws `provider_overloaded` where it takes too long. */
export const tryInput = async (messages: readonly JsonValue[], effective: Effective | null, limits: ScreenLimits): Promise<Trial> => {
  const filters = effective?.input?.filters ?? []
  const texts = await inTime(textsOf(messages), limits)
  const stages = await stagesOf(filters, texts, limits)
  const body = JsonBody.read(JSON.stringify({ messages }))
  const pipeline: PipelineStage[] = []
  const tried = async (): Promise<JsonBody> => {
    if (effective === null) return body
    assertRegion(effective)
    return effective.input === null ? body : screenBody(body, effective.input, pipeline, limits)
  }
  try {
    const after = await tried()
    const said = (after.value('messages') ?? []) as readonly JsonValue[]
    return { stages, outcome: outcomeOf(pipeline, after !== body), error: null, messages: said }
  } catch (thrown) {
    return blocked(stages, thrown)
  }
}

/** A text as a model's answer. Throws likewise. */
export const tryOutput = async (text: string, effective: Effective | null, limits: ScreenLimits): Promise<Trial> => {
  const output = effective?.output ?? null
  const spoken: InputText = { ...SAID, value: text }
  const stages = await stagesOf(output?.filters ?? [], [{ message: 0, texts: [spoken] }], limits)
  const pipeline: PipelineStage[] = []
  try {
    const after = output === null ? text : screenedAnswer(text, output, pipeline)
    return { stages, outcome: outcomeOf(pipeline, after !== text), error: null, messages: [answerOf(after)] }
  } catch (thrown) {
    return blocked(stages, thrown)
  }
}

const SAID = { isJson: false, byUser: false, isProse: true, isFixed: false, isCredential: false, message: null } as const

const screenedAnswer = (text: string, output: NonNullable<Effective['output']>, pipeline: PipelineStage[]): string => {
  const screen = createOutputScreen(output, createDetections(pipeline, 'Response'), output.rewrites)
  const frames = [
    ...screen.frames([
      {
        events: [
          { type: 'text', text },
          { type: 'finish', reason: 'stop', native: null },
        ],
      },
    ]),
    ...screen.end(),
  ]
  return frames.flatMap(({ events }) => events.map((event) => (event.type === 'text' ? event.text : ''))).join('')
}

const answerOf = (content: string): JsonObject => ({ role: 'assistant', content })

const outcomeOf = (pipeline: readonly PipelineStage[], changed: boolean): Trial['outcome'] =>
  changed ? 'redacted' : pipeline.length > 0 ? 'flagged' : 'passed'

const blocked = (stages: Trial['stages'], thrown: unknown): Trial => {
  if (!(thrown instanceof GatewayError) || (thrown.type !== 'permission_denied' && !isGuardrailBlock(thrown))) throw thrown
  return { stages, outcome: 'blocked', error: thrown, messages: null }
}

interface MessageTexts {
  readonly message: number
  readonly texts: readonly InputText[]
}

function* textsOf(messages: readonly JsonValue[]): Scan<readonly MessageTexts[]> {
  const all: MessageTexts[] = []
  for (const [message, value] of messages.entries()) {
    const { texts } = yield* inputTexts(JsonBody.read(JSON.stringify({ messages: [value] })))
    all.push({ message, texts })
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

/** The findings where the parts of a message are read as one text, by part. */
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
