/** Where in its answer a model called a tool that the service runs; encoded in the ids of the call's items and blocks. */

export interface PlaceOfCall {
  /** The turn within the answer. */
  readonly turn: number
  /** Index among all calls of the turn, from 0; null if an older id does not record it. */
  readonly position: number | null
  /** The turn also has calls that the client runs, which follow this call's result: it is the last turn of its answer. */
  readonly besideCalls: boolean
}

/**
 * Builds an id that marks the call as the service's own and records its place, so that calls of one turn come back as one turn, in
 * the model's order.
 */
export const serverCallId = (prefix: string, { turn, position, besideCalls }: PlaceOfCall, unique: string): string =>
  `${prefix}${OWN_ID}${turn}p${position ?? 0}${besideCalls ? 'b' : ''}_${unique}`

/** Returns null for an id that the service did not create. */
export const placeOfServerCall = (id: string): PlaceOfCall | null => {
  const [, turn, position, beside] = /^[a-z]+_svc(\d{1,6})(?:p(\d{1,6}))?(b?)_/.exec(id) ?? []
  return turn === undefined
    ? null
    : { turn: Number(turn), position: position === undefined ? null : Number(position), besideCalls: beside === 'b' }
}

/** Used for a call that came back without an id of the service. */
export const UNKNOWN_PLACE: PlaceOfCall = { turn: 0, position: null, besideCalls: false }

export const OWN_ID = '_svc'
