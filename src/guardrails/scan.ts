/** Work on a text of any length, in pieces short enough that the service does other work between them. */
import type { Clock } from '../lib/clock.ts'
import { createFoldedText, isDisguised } from '../lib/folded-text.ts'
import type { Matcher } from '../lib/regex/any-match.ts'

/** Gives way after each piece. */
export type Scan<Result> = Generator<undefined, Result, undefined>

/** Waits, where this turn was long enough; null where it was not. Throws where all turns together took too long. */
export type Turn = () => Promise<void> | null

/** Between these the service does other work. */
const TURN_MS = 5

/** `withinMs`: for all turns together. The waits between them belong to other work, so a busy service refuses no request for them. */
export const createTurns = (clock: Clock, withinMs: number): Turn => {
  let workedMs = 0
  let beganMs = clock.monotonicMs()
  const pause = async (): Promise<void> => {
    await new Promise<void>((resolve) => clock.after(0, resolve))
    beganMs = clock.monotonicMs()
  }
  return () => {
    const turnMs = clock.monotonicMs() - beganMs
    if (turnMs < TURN_MS) return null
    workedMs += turnMs
    if (workedMs > withinMs) throw new Error('The time for screening is over.')
    return pause()
  }
}

/** Hostile text makes an automaton build a state for every unit: even then a piece takes a few milliseconds. */
const PIECE_CHARACTERS = 512

export function* piecesOf(text: string): Generator<string, void, undefined> {
  for (let at = 0; at < text.length; at += PIECE_CHARACTERS) yield text.slice(at, at + PIECE_CHARACTERS)
}

export const atOnce = <Result>(scan: Scan<Result>): Result => {
  for (;;) {
    const step = scan.next()
    if (step.done === true) return step.value
  }
}

export const inTurns = async <Result>(scan: Scan<Result>, turn: Turn): Promise<Result> => {
  for (;;) {
    const step = scan.next()
    if (step.done === true) return step.value
    const wait = turn()
    if (wait !== null) await wait
  }
}

/** As it is written, and as it reads. */
export function* matchesAny(openMatcher: () => Matcher, text: string): Scan<boolean> {
  if (yield* matchPieces(openMatcher(), piecesOf(text))) return true
  return (yield* isDisguisedSomewhere(text)) && (yield* matchPieces(openMatcher(), foldedPieces(text)))
}

function* matchPieces(one: Matcher, pieces: Iterable<string>): Scan<boolean> {
  for (const piece of pieces) {
    if (one.push(piece)) return true
    yield
  }
  return one.end()
}

function* isDisguisedSomewhere(text: string): Scan<boolean> {
  for (const piece of piecesOf(text)) {
    if (isDisguised(piece)) return true
    yield
  }
  return false
}

function* foldedPieces(text: string): Generator<string, void, undefined> {
  const folded = createFoldedText()
  for (const piece of piecesOf(text)) {
    yield folded.push(piece)
    folded.forget(Number.POSITIVE_INFINITY)
  }
  yield folded.end()
}

/** A text in one of the ways in which it can be read, and where its units are written. */
export interface Reading {
  readonly text: string
  startOf(offset: number): number
  endOf(offset: number): number
}

/** As it is written, and, where that differs, as it reads. */
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
