import { useCallback, useEffect, useRef, useState } from 'react'

interface Typed {
  readonly text: string
  readonly type: (text: string) => void
  /** The address gets this text, a moment later: what is typed meanwhile stays. */
  readonly sent: (text: string) => void
}

/** The text of a field that puts it into the address, and follows the address where that changes by itself. */
export const useTyped = (given: string): Typed => {
  const [text, setText] = useState(given)
  const last = useRef(given)
  useEffect(() => {
    if (given === last.current) return
    last.current = given
    setText(given)
  }, [given])
  const sent = useCallback((next: string): void => void (last.current = next), [])
  return { text, type: setText, sent }
}
