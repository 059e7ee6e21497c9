/** Work on a text of any length in steps that are short enough for the service to do other work in between. */
import { type Clock, turnOf } from '../lib/clock.ts'
import { createFoldedText, createFolding, type Folded, isDisguised } from './folded-text.ts'
import type { Matcher } from '../lib/regex/any-match.ts'
import { followedSteps } from '../lib/regex/followed.ts'
import type { Steps } from '../lib/steps.ts'

/** Yields after each step. */
export type Scan<Result> = Steps<Result>

/** Runs a scan: at once if it is short, else in turns. Throws, or rejects, if all scans that it has run took too long. */
export type RunScan = <Result>(scan: Scan<Result>) => Result | Promise<Result>

/** The maximum length of a turn; the service does other work between turns. */
const TURN_MS = 5

/**
 * `withinMs`: the limit for all turns of all scans together. Waiting between turns is not counted, so a busy service refuses no request
 * because of it.
 */
export const createRunScan = (clock: Clock, withinMs: number): RunScan => {
  let leftMs = withinMs
  const run: RunScan = (scan) => {
    if (leftMs < 0) throw new Error('The time for screening is over.')
    const beganMs = clock.monotonicMs()
    for (;;) {
      const step = scan.next()
      const turnMs = clock.monotonicMs() - beganMs
      if (step.done !== true && turnMs < TURN_MS) continue
      leftMs -= turnMs
      return step.done === true ? step.value : turnOf(clock).then(() => run(scan))
    }
  }
  return run
}

/** Characters per step. */
const PIECE_MAX = 512
const PIECE_MIN = 4
/** The length of the first piece, before it is known what a piece costs. */
const PIECE_FIRST = 16
/** The steps of patterns that may be followed for one piece: a few milliseconds. */
const PIECE_STEPS = 4000

/**
 * Hostile text makes an automaton work out a state for every unit, and a wide pattern makes each of them dear, so the length of a piece
 * follows from what the piece before it cost.
 */
export function* piecesOf(text: string): Generator<string, void, undefined> {
  let length = PIECE_FIRST
  for (let at = 0; at < text.length;) {
    const before = followedSteps()
    const piece = text.slice(at, at + length)
    yield piece
    at += piece.length
    const cost = followedSteps() - before
    length = cost > PIECE_STEPS ? Math.max(PIECE_MIN, Math.floor((length * PIECE_STEPS) / cost)) : Math.min(PIECE_MAX, 2 * length)
  }
}

/** Matches the text as written, and as it reads without disguises. */
export function* matchesAny(openMatcher: () => Matcher, text: string): Scan<boolean> {
  const readings = new BothReadings(openMatcher())
  const folding = createFolding(readings)
  for (const piece of piecesOf(text)) {
    folding.push(piece)
    if (readings.matched) return true
    yield
  }
  folding.end()
  return readings.end()
}

/** So much text is read at once until both readings agree. */
const TOGETHER_CHARACTERS = 32

/** Matches a text as it is written and as it reads: behind a disguise both are read until what follows cannot tell them apart. */
class BothReadings implements Folded {
  readonly #written: Matcher
  /** Null while both readings agree. */
  #meant: Matcher | null = null
  matched = false

  constructor(matcher: Matcher) {
    this.#written = matcher
  }

  plain(text: string): void {
    let from = 0
    for (; this.#meant !== null && from < text.length; from += TOGETHER_CHARACTERS) {
      const part = text.slice(from, from + TOGETHER_CHARACTERS)
      this.#take(this.#written, part)
      this.#take(this.#meant, part)
      if (this.#meant.agreesWith(this.#written)) this.#meant = null
    }
    if (from < text.length) this.#take(this.#written, from === 0 ? text : text.slice(from))
  }

  disguised(written: string, meant: string): void {
    this.#meant ??= this.#written.fork()
    this.#take(this.#written, written)
    this.#take(this.#meant, meant)
  }

  end(): boolean {
    return this.matched || this.#written.end() || this.#meant?.end() === true
  }

  #take(matcher: Matcher, text: string): void {
    this.matched ||= matcher.push(text)
  }
}

function* isDisguisedSomewhere(text: string): Scan<boolean> {
  for (const piece of piecesOf(text)) {
    if (isDisguised(piece)) return true
    yield
  }
  return false
}

/** A text in one of its readings, with a mapping to the positions of the written text. */
export interface Reading {
  readonly text: string
  startOf(offset: number): number
  endOf(offset: number): number
}

/** Returns the text as written and, if that differs, as it reads without disguises. */
export function* readingsOf(text: string): Scan<readonly Reading[]> {
  const plain: Reading = { text, startOf: (offset) => offset, endOf: (offset) => offset }
  if (!(yield* isDisguisedSomewhere(text))) return [plain]
  const folded = createFoldedText()
  const pieces: string[] = []
  for (const piece of piecesOf(text)) {
    pieces.push(folded.push(piece))
    yield
  }
  pieces.push(folded.end())
  return [plain, { text: pieces.join(''), startOf: folded.startOf, endOf: folded.endOf }]
}
