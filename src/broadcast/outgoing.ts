/** One trace in the form that its destination takes. */
export interface Encoded {
  readonly text: string
  /** The path of the object, for a destination that stores objects; '' for all others. */
  readonly path: string
}

/** A request to a destination. */
export interface Outgoing {
  readonly url: string
  readonly method: 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly gzip: boolean
}
