/** A text split at characters that people do not see but a model reads: they may reverse the order of what follows, or hide words in it. */
export interface SeenPiece {
  readonly text: string
  /** If true, `text` shows the character by its code point, such as `U+202E`. */
  readonly isUnseen: boolean
}

/** Joiners and variation selectors do not count as unseen: scripts and emoji are written with them. */
const UNSEEN = /((?!\u200c|\u200d|[\ufe00-\ufe0f])[\p{DI}\ufff9-\ufffb]|(?![\t\n\r])\p{Cc})/u

export const seenPieces = (text: string): readonly SeenPiece[] =>
  text
    .split(UNSEEN)
    .map((piece, index) => (index % 2 === 0 ? { text: piece, isUnseen: false } : { text: numberOf(piece), isUnseen: true }))
    .filter((piece) => piece.text !== '')

/** A name as a sentence shows it: its invisible characters written out, so that they cannot reverse what follows, and one space for many. */
export const asSeen = (name: string): string =>
  seenPieces(name)
    .map(({ text }) => text)
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .normalize()

const numberOf = (character: string): string => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
