/** One text through all filters: it comes in pieces and goes on as soon as nothing in it can become part of a match. */
import { createFinder } from '../lib/regex/finder.ts'
import type { Filter } from './filter.ts'
import type { HeldText } from './held-text.ts'
import { plainText } from './held-text.ts'
import { scanForInjections } from './injection.ts'
import { atOnce, piecesOf, type Scan } from './scan.ts'

/** Told of each find. `pattern`: what was read, for prompt injection only; anything else may be a secret. */
export type Report = (filter: Filter, pattern: string | null) => void

export interface TextScreen {
  /** What may go on now. */
  push(text: string): string
  /** All that is held, as if the text ended here; it may go on all the same. */
  flush(): string
  /** Something was replaced. */
  readonly changed: boolean
}

/** The most units that wait for what follows. A match that is longer is still found, and its rest is replaced. */
const HOLD_MAX = 256

export interface Span {
  readonly from: number
  to: number
  readonly label: string
}

/** A match that grows by a unit is told again: it is the same span. */
export const mergeSpan = (spans: Span[], from: number, to: number, label: string): void => {
  const last = spans.at(-1)
  if (last !== undefined && last.label === label && from >= last.from && from < last.to) last.to = Math.max(last.to, to)
  else spans.push({ from, to, label })
}

/** For a text of which nothing is known but `known`. Filters for prompt injection see whole texts only: `screenWhole`. */
export const createTextScreen = (
  filters: readonly Filter[],
  held: HeldText,
  report: Report,
  known: readonly Readonly<Span>[] = [],
): TextScreen => {
  let spans: Span[] = known.map((span) => ({ ...span }))
  let length = 0
  let released = 0
  /** Up to here the last placeholder stands for the text. */
  let replaced = 0

  const add = (from: number, to: number, label: string): void => mergeSpan(spans, from, to, label)

  const finders = filters.flatMap((filter) =>
    (filter.detectors ?? []).map(({ regex, partsOf }) => ({
      waits: filter.action !== 'flag',
      finder: createFinder(regex, (start, end, match) => {
        const parts = partsOf === undefined ? WHOLE : partsOf(match)
        // What is found in the kept end of a very long match counts from that end.
        const base = parts === WHOLE ? start : end - match.length
        for (const [from, to] of parts) {
          report(filter, null)
          if (filter.action === 'redact') add(base + from, parts === WHOLE ? end : base + to, filter.label)
        }
      }),
    })),
  )

  const letGo = (limit: number, ends: boolean): string => {
    let out = ''
    for (const { from, to, label } of spans.length === 0 ? spans : unite(spans)) {
      if (to <= released) continue
      if (from >= limit) break
      if (from > released) out += held.release(from - released)
      const continues = from < replaced
      out += held.replace(to - Math.max(from, released), continues ? '' : label)
      released = to
      replaced = to
    }
    if (limit > released) {
      const count = ends ? limit - released : held.whole(limit - released)
      out += held.release(count)
      released += count
    }
    if (spans.length > 0) spans = spans.filter(({ to }) => to > released)
    return out
  }

  return {
    push(text) {
      const units = held.add(text)
      length += units.length
      let settled = length
      for (const { finder, waits } of finders) {
        finder.push(units)
        if (waits) settled = Math.min(settled, finder.settled)
      }
      return letGo(Math.max(settled, length - HOLD_MAX), false)
    },
    get changed() {
      return replaced > 0
    },
    flush() {
      for (const { finder } of finders) finder.pause()
      return letGo(length, true) + held.rest()
    },
  }
}

const WHOLE: readonly (readonly [number, number])[] = [[0, 0]]

/** A text that is there as a whole, and short. */
export const screenWhole = (filters: readonly Filter[], text: string, report: Report, heldText: () => HeldText = plainText): string => {
  const screen = createTextScreen(filters, heldText(), report, atOnce(knownInjections(filters, text, heldText, report)))
  return screen.push(text) + screen.flush()
}

/** Attempts at prompt injection are looked for in whole texts: `known` of a text's screen. */
export function* knownInjections(
  filters: readonly Filter[],
  text: string,
  heldText: () => HeldText,
  report: Report,
): Scan<readonly Readonly<Span>[]> {
  const asking = filters.filter(({ detectors }) => detectors === null)
  if (asking.length === 0) return []
  const held = heldText()
  const units: string[] = []
  for (const piece of piecesOf(text)) {
    units.push(held.add(piece))
    yield
  }
  const found = yield* scanForInjections(units.join(''))
  for (const { pattern } of found) for (const filter of asking) report(filter, pattern)
  const redacting = asking.find(({ action }) => action === 'redact')
  return redacting === undefined ? [] : found.map(({ start, end }) => ({ from: start, to: end, label: redacting.label }))
}

/** In order, those that overlap as one; the first one's label stands for all of it. */
export const unite = (spans: readonly Readonly<Span>[]): readonly Readonly<Span>[] => {
  const ordered = spans.toSorted((left, right) => left.from - right.from || right.to - left.to)
  const united: Readonly<Span>[] = []
  for (const span of ordered) {
    const before = united.at(-1)
    if (before !== undefined && span.from < before.to) united[united.length - 1] = { ...before, to: Math.max(before.to, span.to) }
    else united.push(span)
  }
  return united
}
