/** Searches the parts of a message as one joined text, so that a word cannot be hidden by splitting it. */
import { createFinder, type Regex } from '../lib/regex/finder.ts'
import type { Detector } from './detector.ts'
import type { Filter } from './filter.ts'
import { type Injection, scanForInjections } from './injection.ts'
import { piecesOf, type Reading, readingsOf, type Scan } from './scan.ts'
import { mergeSpan, type Report, type Span, unite } from './screen-text.ts'

/**
 * Returns, for each text, the ranges that belong to a match across a boundary. The placeholder is put into the first of them, and
 * into a part of which nothing else is left.
 */
export function* matchesAcross(texts: readonly string[], filters: readonly Filter[], report: Report): Scan<readonly (readonly Span[])[]> {
  const joined = texts.join('')
  const searched = filters.flatMap((filter) => (filter.detectors ?? []).map((detector) => ({ filter, detector, spans: [] as Span[] })))
  const injections: Injection[] = []
  const starts = startsOf(texts)
  const isAcross = (from: number, to: number): boolean => partAt(starts, from) !== partAt(starts, to - 1)
  for (const reading of yield* readingsOf(joined)) {
    for (const { filter, detector, spans } of searched) {
      yield* findIn(reading, detector, (from, to) => {
        if (isAcross(from, to)) mergeSpan(spans, from, to, filter.label)
      })
    }
    if (filters.every(({ detectors }) => detectors !== null)) continue
    for (const { start, end, pattern } of yield* scanForInjections(reading.text)) {
      injections.push({ start: reading.startOf(start), end: reading.endOf(end), pattern })
    }
  }
  const out: Span[][] = texts.map(() => [])
  const share = (spans: readonly Readonly<Span>[], filter: Filter, patternOf: (at: number) => string | null = () => null): void => {
    for (const [at, { from, to, label }] of spans.entries()) {
      const first = partAt(starts, from)
      if (first === partAt(starts, to - 1)) continue
      report(filter, patternOf(at), from, to)
      if (filter.action !== 'redact') continue
      for (let part = first; part < texts.length && (starts[part] ?? 0) < to; part += 1) {
        const start = starts[part] ?? 0
        const length = texts[part]?.length ?? 0
        const whole = from <= start && to >= start + length
        // Providers refuse parts without text.
        out[part]?.push({
          from: Math.max(from - start, 0),
          to: Math.min(to - start, length),
          label: part === first || whole ? label : '',
        })
      }
    }
  }
  const isWhole = ({ regex, endsWithPart }: Detector, { from }: Span): boolean => {
    const part = partAt(starts, from)
    return endsWithPart === true && matches(regex, (texts[part] ?? '').slice(from - (starts[part] ?? 0)))
  }
  for (const { filter, detector, spans } of searched) {
    const across = unite(spans).filter((span) => !isWhole(detector, span))
    share(across, filter)
  }
  for (const filter of filters.filter(({ detectors }) => detectors === null)) {
    share(
      injections.map(({ start, end }) => ({ from: start, to: end, label: filter.label })),
      filter,
      (at) => injections[at]?.pattern ?? null,
    )
  }
  return out
}

function* findIn({ text, startOf, endOf }: Reading, { regex, partsOf }: Detector, report: (from: number, to: number) => void): Scan<void> {
  const finder = createFinder(regex, (start, end, match) => {
    if (partsOf === undefined) report(startOf(start), endOf(end))
    else for (const [from, to] of partsOf(match)) report(startOf(end - match.length + from), endOf(end - match.length + to))
  })
  for (const piece of piecesOf(text)) {
    finder.push(piece)
    yield
  }
  finder.pause()
}

const matches = (regex: Regex, text: string): boolean => {
  let found = false
  const finder = createFinder(regex, () => (found = true))
  finder.push(text)
  finder.pause()
  return found
}

const startsOf = (texts: readonly string[]): readonly number[] => {
  let start = 0
  return texts.map(({ length }) => {
    const own = start
    start += length
    return own
  })
}

/** Returns the last part that begins at or before the offset. */
const partAt = (starts: readonly number[], offset: number): number => {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}
