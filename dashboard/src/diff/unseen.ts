/** A text cut at the characters that nobody sees and a model reads: they may turn the order of what follows, or hide words in it. */
export interface SeenPiece {
  readonly text: string
  /** The character stands in `text` by its number, such as `U+202E`. */
  readonly isUnseen: boolean
}

/** Joiners are left out: emoji and scripts are written with them. */
const UNSEEN =
  /([\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|(?![\t\n\r])\p{Cc})/u

export const seenPieces = (text: string): readonly SeenPiece[] =>
  text
    .split(UNSEEN)
    .map((piece, index) => (index % 2 === 0 ? { text: piece, isUnseen: false } : { text: numberOf(piece), isUnseen: true }))
    .filter((piece) => piece.text !== '')

const numberOf = (character: string): string => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
