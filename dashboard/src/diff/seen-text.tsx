import { useMemo } from 'react'

import { seenPieces } from './unseen.ts'

/**
 * A text with its invisible characters written out: a person who puts a version live must see everything that the model reads, in its
 * order.
 */
export const SeenText = ({ text }: { text: string }) => {
  const pieces = useMemo(() => seenPieces(text), [text])
  return pieces.map(({ text: piece, isUnseen }, index) =>
    isUnseen ? (
      <span key={index} className="unseen" title="A character that is not seen, by its number">
        {piece}
      </span>
    ) : (
      piece
    ),
  )
}
