import { useSyncExternalStore } from 'react'

import { clockTime, instant } from '../format.ts'
import { relative } from '../relative-time.ts'
import { useStore } from '../store.ts'
import { timeZone } from '../time-zone.ts'

const listeners = new Set<() => void>()
let nowMs = Date.now()
setInterval(() => {
  nowMs = Date.now()
  for (const listener of listeners) listener()
}, 15_000)

/** The time, as often as a page needs to show it. */
export const useNow = (): number =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => nowMs,
  )

/** Relative, or the time of the day; the instant is in the tooltip. */
export const When = ({ at, exact = false }: { at: string | null | undefined; exact?: boolean }) => {
  const now = useNow()
  useStore(timeZone)
  if (at === null || at === undefined) return <span className="faint">–</span>
  return (
    <time className="number nowrap" dateTime={at} title={instant(at)}>
      {exact ? clockTime(at, now) : relative(at, now)}
    </time>
  )
}
