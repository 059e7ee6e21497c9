import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/**
 * How many of the columns that may be left out must be, so that the table fits into its frame. A column comes back once the frame is as
 * wide as the table was with it.
 */
export const useFitting = (frame: RefObject<HTMLElement | null>, most: number): number => {
  const [left, setLeft] = useState(0)
  /** The width of the table with this many columns left out, where it was too wide. */
  const needed = useRef<number[]>([])
  const fit = (): void => {
    const element = frame.current
    if (element === null) return
    const fitting = needed.current.findIndex((width) => width <= element.clientWidth)
    if (fitting !== -1 && fitting < left) setLeft(fitting)
    else if (left < most && element.scrollWidth > element.clientWidth) {
      needed.current[left] = element.scrollWidth
      setLeft(left + 1)
    }
  }
  const newest = useRef(fit)
  useLayoutEffect(() => {
    newest.current = fit
    fit()
  })
  useLayoutEffect(() => {
    if (frame.current === null) return
    const observer = new ResizeObserver(() => newest.current())
    observer.observe(frame.current)
    return () => observer.disconnect()
  }, [frame])
  return left
}
