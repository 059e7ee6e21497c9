/** A search and its results, independent of the engine. */

export interface Search {
  readonly query: string
  readonly most: number
  /** The maximum number of characters kept of each result's text. */
  readonly characters: number
  /** Domains, including their subdomains; a path restricts one further. Empty: any. */
  readonly allowed: readonly string[]
  readonly excluded: readonly string[]
  readonly place: Place | null
  /** How thoroughly an engine should search, in its own terms; null: its default. */
  readonly mode: string | null
}

/** The approximate location of the user. */
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
  /** The date in the engine's own format. */
  readonly published: string | null
}
