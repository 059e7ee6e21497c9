/**
 * Hides a preset's secrets in an upstream's own text: some providers repeat the request in members of their answer. The model's
 * output is left unchanged (decisions/0021).
 */
import type { ClientDialect } from '../canonical/call.ts'
import type { Frame, NativePattern, NativeText } from '../canonical/event.ts'
import { type HiddenTexts, quotesFinder } from '../canonical/hidden-prompt.ts'
import { HIDDEN_MARK } from '../canonical/preset-secrets.ts'
import { markedAt } from '../lib/text/hide-quotes.ts'
import { spliceJson, walkJson } from '../lib/json/json-tokens.ts'
import { atOnce, type Steps } from '../lib/steps.ts'
import { type AnswerPlace, placeOf, placeWithin } from './answer-places.ts'
import type { ClientFormat } from './format.ts'

/** Returns the format with a preset's secrets hidden in relayed answers. If the preset has none, nothing is searched. */
export const withSecretsHidden = (format: ClientFormat): ClientFormat => ({
  ...format,
  *renderAnswer(head, answer, tail, failure) {
    const shown = head.hidden === undefined ? answer : yield* hiderIn(format.dialect, head.hidden, 'answer')(answer)
    return yield* format.renderAnswer(head, shown, tail, failure)
  },
  openStream(head) {
    const stream = format.openStream(head)
    if (head.hidden === undefined) return stream
    const hide = hiderIn(format.dialect, head.hidden, 'event')
    return {
      frames: (frames) => stream.frames(frames.map((frame) => atOnce(hide(frame)))),
      finish: (tail) => stream.finish(tail),
      fail: (error, tail) => stream.fail(error, tail),
    }
  },
})

/** UTF-16 units of one frame that are searched; any further text is hidden without a search. */
const UNITS_MAX = 65_536

/** UTF-16 units kept from the end of a member's text so far, enough to recognise a quotation that continues in the next piece. */
const KEPT_UNITS = 128
const LANES_MAX = 1000

const hiderIn = (dialect: ClientDialect, hidden: HiddenTexts, outermost: 'answer' | 'event'): ((frame: Frame) => Steps<Frame>) => {
  const quotesIn = quotesFinder(hidden)
  /** The end of each member's text in this frame and earlier ones, keyed by the path of names. */
  const lanes = new Map<string, string>()
  let unitsLeft = 0
  /** A pattern known to hold no secret; its frames differ only in the model's output. */
  let open: NativePattern | undefined

  const shown = (text: string, path: string): string => {
    const before = lanes.get(path) ?? ''
    const joined = before + text
    unitsLeft -= joined.length
    if (unitsLeft < 0) return HIDDEN_MARK
    if (lanes.size < LANES_MAX || lanes.has(path)) lanes.set(path, joined.slice(-KEPT_UNITS))
    const own = quotesIn(joined).flatMap(([start, end]): [number, number][] =>
      end <= before.length ? [] : [[Math.max(start - before.length, 0), end - before.length]],
    )
    return markedAt(text, own, HIDDEN_MARK)
  }

  function* hiddenIn(json: string): Steps<string> {
    const edits: { start: number; end: number; text: string }[] = []
    const containers: { readonly isArray: boolean; readonly place: AnswerPlace; readonly path: string }[] = []
    unitsLeft = UNITS_MAX
    const outermostPlace = placeOf(dialect, json, outermost)
    /** The place and the path of what a member's name, or an element, is followed by. */
    const locate = (key: string): { readonly place: AnswerPlace; readonly path: string } => {
      const holder = containers.at(-1)
      if (holder === undefined) return { place: outermostPlace, path: '' }
      // Elements of an array have the place of the array.
      return holder.isArray ? holder : { place: placeWithin(dialect, holder.place, key), path: `${holder.path} ${key}` }
    }
    yield* walkJson(json, {
      text({ kind, value, key, isKey, start, end }) {
        const { place, path } = locate(key)
        if (kind === 'number' || place !== 'unknown') return
        const text = shown(value, isKey ? `${path} ` : path)
        if (text !== value) edits.push({ start, end, text: JSON.stringify(text) })
      },
      open: (key, isArray) => void containers.push({ ...locate(key), isArray }),
      close: () => void containers.pop(),
    })
    return edits.length === 0 ? json : spliceJson(json, edits)
  }

  function* inNative(native: NativeText): Steps<NativeText> {
    if (native.filled !== undefined && native.filled.pattern === open) return native
    const json = yield* hiddenIn(native.json)
    if (json !== native.json) return { dialect, json }
    open = native.filled?.pattern
    return native
  }

  return function* (frame) {
    if (frame.native?.dialect !== dialect) return frame
    const native = yield* inNative(frame.native)
    return native === frame.native ? frame : { ...frame, native }
  }
}
