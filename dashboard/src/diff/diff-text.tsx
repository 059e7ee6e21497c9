import { useMemo } from 'react'

import { SeenText } from './seen-text.tsx'
import { wordDiff } from './word-diff.ts'

/** Shows two texts as one, with removed and added pieces marked. */
export const DiffText = ({ before, after }: { before: string; after: string }) => {
  const pieces = useMemo(() => wordDiff(before, after), [before, after])
  return (
    <div className="said diff-text">
      {pieces.map(({ kind, text }, index) =>
        kind === 'same' ? (
          <SeenText key={index} text={text} />
        ) : kind === 'removed' ? (
          <del key={index}>
            <SeenText text={text} />
          </del>
        ) : (
          <ins key={index}>
            <SeenText text={text} />
          </ins>
        ),
      )}
    </div>
  )
}
