import { useMemo } from 'react'

import { seenPieces } from './unseen.ts'

/** A text whose unseen characters are written out: who puts a version live reads all that the model does, in its order. */
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
