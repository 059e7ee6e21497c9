/** Work on a text of any length, in pieces short enough that the service does other work between them. */
import type { Look } from '../lib/regex/any-match.ts'

/** Gives way after each piece. */
export type Scan<Result> = Generator<undefined, Result, undefined>

/** Waits, where this turn was long enough. Throws where the time for all of it is over. */
export type Turn = () => Promise<void>

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
    await turn()
  }
}

export function* lookAt(look: () => Look, text: string): Scan<boolean> {
  const one = look()
  for (const piece of piecesOf(text)) {
    if (one.push(piece)) return true
    yield
  }
  return one.end()
}
