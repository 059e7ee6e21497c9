import { type ReactNode, type RefObject, useEffect, useState } from 'react'

interface ScrollingFrameProps {
  /** The name of the table, which the frame has where it takes the focus. */
  readonly label: string
  readonly frame: RefObject<HTMLDivElement | null>
  readonly children: ReactNode
}

/** Scrolls a table that is wider than its place, and makes it reachable by the keyboard then. */
export const ScrollingFrame = ({ label, frame, children }: ScrollingFrameProps) => {
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
    <div ref={frame} className="table-frame" {...(isWide ? { tabIndex: 0, role: 'group', 'aria-label': label } : {})}>
      {children}
    </div>
  )
}
