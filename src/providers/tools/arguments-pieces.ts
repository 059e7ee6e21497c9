/**
 * Picks from the pieces of one call's arguments what counts. Some servers send an empty object before the true arguments, and some send all
 * arguments once more behind their last piece; clients join whatever they get, and cannot read the result.
 */
import { ArgumentsScan } from '../../lib/json/arguments-scan.ts'
import { LARGE_BYTES } from '../../lib/steps.ts'

export interface ArgumentsPieces {
  /** All arguments are there, so another call may follow without an id. */
  readonly isComplete: boolean
  /** An object or an array is open. */
  readonly isInside: boolean
  /** The arguments so far are an empty object in one piece, which those that follow may take the place of. */
  readonly isEmptyObject: boolean
  /** Returns what of the piece counts. `mayScan`: the piece is not too long to be looked through at once, or has to be. */
  take(json: string, mayScan: boolean): TakenPiece
}

interface TakenPiece {
  readonly json: string
  /** The pieces before it do not count. */
  readonly voids: boolean
}

export const pickArguments = (): ArgumentsPieces => {
  /** Null once a piece was not looked through. */
  let scan: ArgumentsScan | null = new ArgumentsScan()
  /** All that counted so far; null if it is too long to be compared with a repetition. */
  let text: string | null = ''
  let count = 0
  const isEmptyObject = (): boolean => count === 1 && text !== null && text.length < EMPTY_MAX && text.trim() === '{}'

  return {
    get isComplete() {
      return scan?.complete === true
    },
    get isInside() {
      return scan?.isInside === true
    },
    get isEmptyObject() {
      return isEmptyObject()
    },
    take(json, mayScan) {
      if (json === '' || (scan?.complete === true && json === text)) return NOTHING
      const voids = isEmptyObject() && json.trimStart().startsWith('{')
      if (voids) {
        scan = new ArgumentsScan()
        text = ''
        count = 0
      }
      count += 1
      if (!mayScan) scan = null
      scan?.push(json)
      text = text === null || text.length + json.length > LARGE_BYTES ? null : text + json
      return { json, voids }
    },
  }
}

const NOTHING: TakenPiece = { json: '', voids: false }

/** A longer text is no empty object. */
const EMPTY_MAX = 16
