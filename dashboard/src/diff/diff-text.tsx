import { useMemo } from 'react'

import { wordDiff } from './word-diff.ts'

/** Two texts as one, with what only one of them has marked. */
export const DiffText = ({ before, after }: { before: string; after: string }) => {
  const pieces = useMemo(() => wordDiff(before, after), [before, after])
  return (
    <div className="said diff-text">
      {pieces.map(({ kind, text }, index) =>
        kind === 'same' ? (
          <span key={index}>{text}</span>
        ) : kind === 'removed' ? (
          <del key={index}>{text}</del>
        ) : (
          <ins key={index}>{text}</ins>
        ),
      )}
    </div>
  )
}
