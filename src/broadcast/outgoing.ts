/** The request that goes out to a destination. */
/** One trace as its destination takes it. */
export interface Encoded {
  readonly text: string
  /** Where it is stored, for a destination that stores; '' elsewhere. */
  readonly path: string
}

export interface Outgoing {
  readonly url: string
  readonly method: 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly gzip: boolean
}
