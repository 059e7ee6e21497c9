/** Passes one text through all filters: it arrives in pieces, and each is passed on as soon as nothing in it can become part of a match. */
import { createFoldedText, type FoldedText, isDisguised } from './folded-text.ts'
import { createFinder, type Found } from '../lib/regex/finder.ts'
import type { Detector } from './detector.ts'
import type { Filter } from './filter.ts'
import type { HeldText } from './held-text.ts'
import { plainText } from './held-text.ts'
import { scanForInjections } from './injection.ts'
import { atOnce } from '../lib/steps.ts'
import { piecesOf, readingsOf, type Scan } from './scan.ts'

/**
 * Called for each finding, with its position in the text. `pattern`: the text that was read, for prompt injection only; any other
 * matched text may be a secret.
 */
export type Report = (filter: Filter, pattern: string | null, from: number, to: number) => void

export interface TextScreen {
  /** Returns the text that can be passed on now. */
  push(text: string): string
  /** Returns all held text as if the text ended here; it may still continue. */
  flush(): string
  /** Returns true if something was replaced since this was last asked. */
  hasReplaced(): boolean
}

/** The maximum number of held units. A longer match is still found, and the rest of it is replaced. */
const HOLD_MAX = 256

export interface Span {
  readonly from: number
  to: number
  readonly label: string
}

/** Adds a span. A match that grows by a unit is reported again and extends its span. */
export const mergeSpan = (spans: Span[], from: number, to: number, label: string): void => {
  const last = spans.at(-1)
  if (last !== undefined && last.label === label && from >= last.from && from < last.to) last.to = Math.max(last.to, to)
  else spans.push({ from, to, label })
}

/**
 * `known`: findings that are already known. The text is searched as written and, from the first disguised character on, also as it
 * reads. Filters for prompt injection need the whole text: see `screenInPieces`.
 */
export const createTextScreen = (
  filters: readonly Filter[],
  held: HeldText,
  report: Report,
  known: readonly Readonly<Span>[] = [],
): TextScreen => {
  const ahead = unite(known)
  let nextAhead = 0
  let spans: Span[] = []
  let length = 0
  let released = 0
  /** The end of the text that the last placeholder replaces. */
  let replaced = 0
  /** `replaced` when `hasReplaced` was last called. */
  let asked = 0

  const foundBy =
    ({ filter, detector: { partsOf } }: Searched, { startOf, endOf }: Pick<FoldedText, 'startOf' | 'endOf'>): Found =>
    (start, end, match) => {
      const parts = partsOf === undefined ? WHOLE : partsOf(match)
      // For a very long match only its end is kept, so positions are counted back from its end.
      const base = parts === WHOLE ? start : end - match.length
      for (const [from, to] of parts) {
        const first = startOf(base + from)
        const last = endOf(parts === WHOLE ? end : base + to)
        report(filter, null, first, last)
        if (filter.action === 'redact') mergeSpan(spans, first, last, filter.label)
      }
    }

  const plain = filters.flatMap((filter) =>
    (filter.detectors ?? []).map((detector) => {
      const searched = { filter, detector }
      return { searched, finder: createFinder(detector.regex, foundBy(searched, AS_WRITTEN)) }
    }),
  )
  interface Folded {
    readonly text: FoldedText
    readonly finders: typeof plain
  }
  let folded: Folded | null = null

  const pushFolded = ({ finders }: Folded, read: string): void => {
    for (const { finder } of finders) finder.push(read)
  }

  const readFolded = (units: string): void => {
    if (folded === null) {
      if (!isDisguised(units)) return
      const text = createFoldedText(length)
      folded = { text, finders: plain.map(({ searched, finder }) => ({ searched, finder: finder.fork(foundBy(searched, text)) })) }
    }
    pushFolded(folded, folded.text.push(units))
  }

  /** Text before this offset can no longer become part of a match that must not pass. */
  const settled = (): number => {
    let settledTo = length
    for (const { searched, finder } of plain) if (waits(searched)) settledTo = Math.min(settledTo, finder.settled)
    if (folded === null) return settledTo
    let foldedTo = Number.POSITIVE_INFINITY
    let needed = Number.POSITIVE_INFINITY
    for (const { searched, finder } of folded.finders) {
      if (waits(searched)) foldedTo = Math.min(foldedTo, finder.settled)
      needed = Math.min(needed, finder.settled)
    }
    settledTo = Math.min(settledTo, folded.text.startOf(foldedTo))
    folded.text.forget(needed)
    return settledTo
  }

  const letGo = (limit: number, ends: boolean): string => {
    for (let span = ahead[nextAhead]; span !== undefined && span.from < length; span = ahead[nextAhead]) {
      spans.push({ ...span })
      nextAhead += 1
    }
    let out = ''
    for (const { from, to: last, label } of spans.length === 0 ? spans : unite(spans)) {
      // The rest of a known finding arrives with later pieces.
      const to = Math.min(last, length)
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
      // This must run before the other finders read the units, because it forks them in their current state.
      readFolded(units)
      length += units.length
      for (const { finder } of plain) finder.push(units)
      return letGo(Math.max(settled(), length - HOLD_MAX), false)
    },
    hasReplaced() {
      const before = asked
      asked = replaced
      return replaced > before
    },
    flush() {
      if (folded !== null) pushFolded(folded, folded.text.end())
      for (const { finder } of [...plain, ...(folded?.finders ?? [])]) finder.pause()
      return letGo(length, true) + held.rest()
    },
  }
}

interface Searched {
  readonly filter: Filter
  readonly detector: Detector
}

const waits = ({ filter }: Searched): boolean => filter.action !== 'flag'

const AS_WRITTEN: Pick<FoldedText, 'startOf' | 'endOf'> = { startOf: (offset) => offset, endOf: (offset) => offset }

const WHOLE: readonly (readonly [number, number])[] = [[0, 0]]

/** Screens a text that is completely available. `shared`: findings in it that are already known. */
export function* screenInPieces(
  filters: readonly Filter[],
  text: string,
  report: Report,
  heldText: () => HeldText = plainText,
  shared: readonly Readonly<Span>[] = [],
): Scan<string> {
  const screen = createTextScreen(filters, heldText(), report, [...(yield* knownInjections(filters, text, heldText, report)), ...shared])
  return (yield* pushInPieces(screen, text)) + screen.flush()
}

/** Like `push`, in steps. */
export function* pushInPieces(screen: TextScreen, text: string): Scan<string> {
  const passed: string[] = []
  for (const piece of piecesOf(text)) {
    passed.push(screen.push(piece))
    yield
  }
  return passed.join('')
}

/** Like `screenInPieces`, for a short text. */
export const screenWhole = (filters: readonly Filter[], text: string, report: Report): string =>
  atOnce(screenInPieces(filters, text, report))

/** Finds attempts at prompt injection, which need the whole text; the result is `known` of a text's screen. */
function* knownInjections(
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
    const added = held.add(piece)
    held.release(added.length)
    units.push(added)
    yield
  }
  const redacting = asking.find(({ action }) => action === 'redact')
  const spans: Span[] = []
  for (const reading of yield* readingsOf(units.join(''))) {
    for (const { start, end, pattern } of yield* scanForInjections(reading.text)) {
      const from = reading.startOf(start)
      const to = reading.endOf(end)
      for (const filter of asking) report(filter, pattern, from, to)
      if (redacting !== undefined) spans.push({ from, to, label: redacting.label })
    }
  }
  return spans
}

/** Returns the spans in order, with overlapping ones merged; the first one's label is used for all of it. */
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
