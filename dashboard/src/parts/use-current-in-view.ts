import { type RefObject, useLayoutEffect, useRef } from 'react'

/** Scrolls a row of links that is wider than its place to the `current` one, without scrolling the page. */
export const useCurrentInView = (current: string): RefObject<HTMLElement | null> => {
  const row = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const link = row.current?.querySelector('[aria-current="page"]')
    if (row.current === null || link === null || link === undefined) return
    const [outer, inner] = [row.current.getBoundingClientRect(), link.getBoundingClientRect()]
    row.current.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2)
  }, [current])
  return row
}
