/** How storage seals what nobody may read in the database itself. The key is the service's (presets/preset-seal.ts). */

/** `context` says what a text is sealed as; it opens only with the same context. */
export interface TextSeal {
  seal(text: string, context: string): string
  /** Throws if the text was changed or moved, or sealed with another key. */
  open(sealed: string, context: string): string
}

/** Like TextSeal, for bytes. */
export interface ByteSeal {
  sealBytes(bytes: Uint8Array, context: string): string
  openBytes(sealed: string, context: string): Uint8Array
}
