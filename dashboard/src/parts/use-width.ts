import { type RefObject, useLayoutEffect, useState } from 'react'

/** The font size of the browser, in pixels. */
export const remPx = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize)

/** The width of an element's content, without its scroll bar, in rem. It is measured before the first painting. */
export const useWidth = (element: RefObject<HTMLElement | null>): number => {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const measured = element.current
    if (measured === null) return
    const measure = (): void => setWidth(measured.clientWidth / remPx())
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(measured)
    return () => observer.disconnect()
  }, [element])
  return width
}
