import { Fragment, useMemo, useState } from 'react'

import { count } from '../format.ts'
import { foldSame } from './fold-same.ts'
import { SeenText } from './seen-text.tsx'
import { wordDiff } from './word-diff.ts'

/** Shows two texts as one, with removed and added pieces marked. */
export const DiffText = ({ before, after }: { before: string; after: string }) => {
  const pieces = useMemo(() => wordDiff(before, after), [before, after])
  const [isWhole, setWhole] = useState(false)
  return (
    <div className="said diff-text">
      {pieces.map(({ kind, text }, index) => {
        if (kind === 'removed') {
          return (
            <del key={index}>
              <SeenText text={text} />
            </del>
          )
        }
        if (kind === 'added') {
          return (
            <ins key={index}>
              <SeenText text={text} />
            </ins>
          )
        }
        const folded = isWhole ? null : foldSame(text, index === 0, index === pieces.length - 1)
        if (folded === null) return <SeenText key={index} text={text} />
        return (
          <Fragment key={index}>
            {folded.before === '' ? null : <SeenText text={`${folded.before}\n`} />}
            <button type="button" className="link-button" onClick={() => setWhole(true)}>
              {count(folded.lines)} lines are the same
            </button>
            {folded.after === '' ? null : <SeenText text={`\n${folded.after}`} />}
          </Fragment>
        )
      })}
    </div>
  )
}
