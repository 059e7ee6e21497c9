import { type ReactNode, type RefObject, useEffect, useState } from 'react'

/** Scrolls a table that is wider than its place, and makes it reachable by the keyboard then. */
export const ScrollingFrame = ({ frame, children }: { frame: RefObject<HTMLDivElement | null>; children: ReactNode }) => {
  const [isWide, setWide] = useState(false)
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const observer = new ResizeObserver(() => setWide(element.scrollWidth > element.clientWidth))
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    return () => observer.disconnect()
  }, [frame])
  return (
    <div ref={frame} className="table-frame" {...(isWide ? { tabIndex: 0 } : {})}>
      {children}
    </div>
  )
}
