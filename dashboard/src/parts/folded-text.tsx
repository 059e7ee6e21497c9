/** A text of any size: a long one is folded, and base64 data is replaced by its size. */
import { useState } from 'react'
import { bytes } from '../units.ts'

const FOLD_ABOVE = 20_000
const DATA = /(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/]{1024,}={0,2}/g

/** Replaces images, audio and files by their size. */
export const withoutData = (text: string): string => text.replace(DATA, (data) => `[${bytes(Math.floor((data.length * 3) / 4))} of data]`)

export const FoldedText = ({ text, mono = false }: { text: string; mono?: boolean }) => {
  const [isOpen, setOpen] = useState(false)
  const shown = withoutData(text)
  const isLong = shown.length > FOLD_ABOVE
  return (
    <>
      <div className={mono ? 'code-block' : 'said'}>{isLong && !isOpen ? `${shown.slice(0, FOLD_ABOVE)}…` : shown}</div>
      {isLong ? (
        <button type="button" className="link-button" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
          {isOpen ? 'Fold' : `Show all (${bytes(shown.length)})`}
        </button>
      ) : null}
    </>
  )
}
