/** Work on a text of any length in steps that are short enough for the service to do other work in between. */
import type { Clock } from '../lib/clock.ts'
import { createFoldedText, isDisguised } from '../lib/folded-text.ts'
import type { Matcher } from '../lib/regex/any-match.ts'

/** Yields after each step. */
export type Scan<Result> = Generator<undefined, Result, undefined>

/** Returns a promise to wait for if this turn has lasted long enough, else null. Throws if all turns together took too long. */
export type Turn = () => Promise<void> | null

/** The maximum length of a turn; the service does other work between turns. */
const TURN_MS = 5

/**
 * `withinMs`: the limit for all turns together. Waiting between turns is not counted, so a busy service refuses no request because
 * of it.
 */
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

/** Characters per step. Hostile text makes an automaton build a state for every unit; even then a step takes only a few milliseconds. */
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

/** Matches the text as written, and as it reads without disguises. */
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
