/** Adds new requests as they finish. While somebody reads the list, they are held back and counted. */
import { useCallback, useEffect, useRef, useState } from 'react'

import type { Query } from '../../api/path.ts'
import { followGenerations, type GenerationRow } from '../../api/generations.ts'
import { messageOf } from '../../parts/error-note.tsx'

export interface Live {
  /** The rows above those that were loaded, newest first. */
  readonly rows: readonly GenerationRow[]
  /** The number of requests held back while the list is read. */
  readonly waiting: number
  readonly skipped: number
  readonly fault: string | null
  show(): void
}

/** The most live rows: above this a reload is better than a longer list. */
const ROWS_MAX = 2000
const SHOW_EVERY_MS = 1000

export const useLive = (filter: Query, isOn: boolean, isHeld: () => boolean): Live => {
  const [rows, setRows] = useState<readonly GenerationRow[]>([])
  const [waiting, setWaiting] = useState(0)
  const [skipped, setSkipped] = useState(0)
  const [fault, setFault] = useState<string | null>(null)
  const arrived = useRef<GenerationRow[]>([])
  const key = JSON.stringify(filter)
  const show = useCallback(() => {
    const fresh = arrived.current
    arrived.current = []
    setWaiting(0)
    if (fresh.length > 0) setRows((shown) => [...fresh.reverse(), ...shown].slice(0, ROWS_MAX))
  }, [])
  useEffect(() => {
    arrived.current = []
    setRows([])
    setWaiting(0)
    setSkipped(0)
    setFault(null)
    if (!isOn) return
    const ended = new AbortController()
    followGenerations(JSON.parse(key) as Query, ended.signal, {
      row: (row) => void arrived.current.push(row),
      gap: (count) => setSkipped((sum) => sum + count),
    }).then(
      () => setFault('The stream has ended. Switch Live off and on to follow again.'),
      (thrown: unknown) => {
        if (!ended.signal.aborted) setFault(messageOf(thrown))
      },
    )
    const timer = setInterval(() => {
      if (isHeld()) setWaiting(arrived.current.length)
      else show()
    }, SHOW_EVERY_MS)
    return () => {
      clearInterval(timer)
      ended.abort()
    }
  }, [key, isOn, isHeld, show])
  return { rows, waiting, skipped, fault, show }
}
