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

/** The current time, updated as often as a page needs to show it. */
export const useNow = (): number =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => nowMs,
  )

/** Shows a time relative to now, or the time of day; the tooltip has the full instant. */
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
