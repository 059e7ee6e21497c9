/** A search and what it finds, whichever engine is asked. */

export interface Search {
  readonly query: string
  /** At most so many results. */
  readonly most: number
  /** Characters of text that are kept of each. */
  readonly characters: number
  /** Domains, with all below them; a path narrows one further. Empty: any. */
  readonly allowed: readonly string[]
  readonly excluded: readonly string[]
  readonly place: Place | null
  /** How thoroughly an engine is to look, by its own names; null: as it likes. */
  readonly mode: string | null
}

/** Where the user is, roughly. */
export interface Place {
  readonly city: string | null
  readonly region: string | null
  /** Two capital letters. */
  readonly country: string | null
  readonly timezone: string | null
}

export interface Found {
  readonly title: string
  /** http or https. */
  readonly url: string
  readonly content: string
  /** As the engine reports it. */
  readonly published: string | null
}
