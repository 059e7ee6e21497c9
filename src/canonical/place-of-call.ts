/** Where a model called a tool that the service runs, written into the ids of the call's items and blocks. */

/** Where in its answer a model made a call. */
export interface PlaceOfCall {
  /** The turn of the answer. */
  readonly turn: number
  /** Among all calls of the turn, from 0; null where an older id does not hold it. */
  readonly position: number | null
  /** The turn has calls that the client runs, which stand behind this one's result: it is the last turn of its answer. */
  readonly besideCalls: boolean
}

/**
 * The id of a call's item or block marks the call as the service's own and holds its place: so calls of one turn come back as one
 * turn, in the model's order.
 */
export const serverCallId = (prefix: string, { turn, position, besideCalls }: PlaceOfCall, unique: string): string =>
  `${prefix}${OWN_ID}${turn}p${position ?? 0}${besideCalls ? 'b' : ''}_${unique}`

/** Null for an id that the service did not give. */
export const placeOfServerCall = (id: string): PlaceOfCall | null => {
  const [, turn, position, beside] = /^[a-z]+_svc(\d{1,6})(?:p(\d{1,6}))?(b?)_/.exec(id) ?? []
  return turn === undefined
    ? null
    : { turn: Number(turn), position: position === undefined ? null : Number(position), besideCalls: beside === 'b' }
}

/** For a call that came back without the service's id. */
export const UNKNOWN_PLACE: PlaceOfCall = { turn: 0, position: null, besideCalls: false }

export const OWN_ID = '_svc'
