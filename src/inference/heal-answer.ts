/** `response-healing` over a whole answer that the client wanted as JSON (docs/plugins.md). Streams are not held back for it. */
import type { Frame, ModelEvent, TakeFrames } from '../canonical/event.ts'
import type { GatewayError } from '../errors.ts'
import { replaceText } from '../formats/replace-text.ts'
import { JsonTextError } from '../lib/json-scan.ts'
import { expectedBy, type Expected, type Heal, loadHeal } from '../plugins/response-healing.ts'
import type { Admitted } from './admitted.ts'

/** Whether the answer of this request is one to heal. */
export const wantsHealing = ({ request }: Admitted): boolean =>
  request.plugins?.has('response-healing') === true && !request.call.stream && request.call.prompt().outputFormat.type !== 'text'

/** As `answer`, which hands its frames to the `take` it is given. */
export const healed = async (
  { request, log }: Admitted,
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
    request.pipeline.push({
      type: 'response_healing',
      name: 'response-healing',
      summary: 'Healed: the answer was no valid JSON, and is now',
      cost_usd: 0,
      data: { healed: true, finish_reason: log.said.finishReason },
    })
  }
  if (changed.length === 0) return error
  const behind = take(changed)
  if (behind !== undefined) await behind
  return error
}

const expectedOf = ({ call }: Admitted['request']): Expected => {
  const { outputFormat } = call.prompt()
  return outputFormat.type === 'json-schema' ? expectedBy(outputFormat.schema) : outputFormat.type === 'json' ? 'object' : null
}

/** The same frames where nothing is to be healed. */
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

/** Null where the text is not to be changed in place: then the answer is told by its events. */
const healNative = ({ dialect, json }: NonNullable<Frame['native']>, heal: Heal): string | null => {
  try {
    return replaceText(dialect, json, heal)
  } catch (thrown) {
    if (thrown instanceof JsonTextError) return null
    throw thrown
  }
}

/** What the model said last as one text. */
const healLastText = (events: readonly ModelEvent[], heal: Heal): readonly ModelEvent[] => {
  const begin = events.findLastIndex(({ type }) => type === 'text-break') + 1
  const said = events.slice(begin)
  const text = said.map((event) => (event.type === 'text' ? event.text : '')).join('')
  const mended = text === '' ? text : heal(text)
  if (mended === text) return events
  const first = said.findIndex(({ type }) => type === 'text')
  return [
    ...events.slice(0, begin),
    ...said.flatMap((event, at): readonly ModelEvent[] =>
      at === first ? [{ type: 'text', text: mended }] : event.type === 'text' ? [] : [event],
    ),
  ]
}
