/**
 * The plugin `response-healing`: repairs a whole answer that the client wanted as JSON (docs/plugins.md). It does not hold back streams.
 */
import type { Frame, ModelEvent, TakeFrames } from '../canonical/event.ts'
import type { GatewayError } from '../errors.ts'
import { replaceText } from '../formats/replace-text.ts'
import { jsonIn, type JsonObject } from '../lib/json/json.ts'
import { createSchemaCheck } from '../lib/json/json-schema.ts'
import { JsonTextError } from '../lib/json/json-limits.ts'
import { expectedBy, type Expected, type Heal, loadHeal } from '../plugins/response-healing.ts'
import type { Admitted } from './admitted.ts'

/** True if the answer to this request should be healed. */
export const wantsHealing = ({ request }: Admitted): boolean =>
  request.plugins?.has('response-healing') === true && !request.call.stream && request.call.prompt().outputFormat.type !== 'text'

/** Runs `answer` with a `take` that collects its frames, and hands the healed frames to the real `take`. */
export const healed = async (
  { request }: Admitted,
  answer: (take: TakeFrames) => Promise<GatewayError | null>,
  take: TakeFrames,
): Promise<GatewayError | null> => {
  const frames: Frame[] = []
  const error = await answer((batch) => void frames.push(...batch))
  const reason = frames.flatMap(({ events }) => events).findLast((event) => event.type === 'finish')?.reason
  const isWhole = error === null && reason !== 'length' && reason !== 'content_filter'
  const heal = isWhole ? await loadHeal(expectedOf(request)) : null
  const changed = heal === null ? frames : healFrames(frames, heal)
  if (changed !== frames) {
    request.effects.push({
      type: 'response_healing',
      name: 'response-healing',
      summary: 'Healed: the answer was no valid JSON, and is now',
      cost_usd: 0,
      data: { healed: true, ...validity(request, changed) },
    })
  }
  if (changed.length === 0) return error
  const behind = take(changed)
  if (behind !== undefined) await behind
  return error
}

/**
 * Says whether the answer now matches its schema: even a healed answer may lack something. `valid` is null if the check does not know all
 * of the schema.
 */
const validity = ({ call }: Admitted['request'], frames: readonly Frame[]): JsonObject => {
  const { outputFormat } = call.prompt()
  if (outputFormat.type !== 'json-schema') return {}
  const value = jsonIn(lastText(frames.flatMap(({ events }) => events)))
  if (value === undefined) return { valid: false }
  const { faults, unchecked } = createSchemaCheck(outputFormat.schema)(value)
  if (faults.length > 0) return { valid: false }
  return { valid: unchecked.length > 0 ? null : true }
}

const expectedOf = ({ call }: Admitted['request']): Expected => {
  const { outputFormat } = call.prompt()
  if (outputFormat.type === 'json-schema') return expectedBy(outputFormat.schema)
  return outputFormat.type === 'json' ? 'object' : null
}

/** Returns the same frames if nothing needs healing. */
const healFrames = (frames: readonly Frame[], heal: Heal): readonly Frame[] => {
  const events = frames.flatMap((frame) => frame.events)
  const mended = healLastText(events, heal)
  const native = frames.length === 1 ? frames[0]?.native : undefined
  if (native === undefined) return mended === events ? frames : [{ events: mended }]
  const json = healNative(native, heal)
  return json === native.json && mended === events
    ? frames
    : [json === null ? { events: mended } : { events: mended, native: { dialect: native.dialect, json } }]
}

/** Returns null if the text cannot be changed in place: the answer is then rendered from its events. */
const healNative = ({ dialect, json }: NonNullable<Frame['native']>, heal: Heal): string | null => {
  try {
    return replaceText(dialect, json, heal)
  } catch (thrown) {
    if (thrown instanceof JsonTextError) return null
    throw thrown
  }
}

/** The text after the last break, as one string. */
const lastText = (events: readonly ModelEvent[]): string =>
  events
    .slice(lastBegin(events))
    .map((event) => (event.type === 'text' ? event.text : ''))
    .join('')

const lastBegin = (events: readonly ModelEvent[]): number => events.findLastIndex(({ type }) => type === 'text-break') + 1

const healLastText = (events: readonly ModelEvent[], heal: Heal): readonly ModelEvent[] => {
  const begin = lastBegin(events)
  const said = events.slice(begin)
  const text = lastText(events)
  const mended = text === '' ? text : heal(text)
  if (mended === text) return events
  const first = said.findIndex(({ type }) => type === 'text')
  return [
    ...events.slice(0, begin),
    ...said.flatMap((event, at): readonly ModelEvent[] => {
      if (at === first) return [{ type: 'text', text: mended }]
      return event.type === 'text' ? [] : [event]
    }),
  ]
}
