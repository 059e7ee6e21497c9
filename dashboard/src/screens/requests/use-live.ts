/** Adds new requests as they finish. While somebody reads the list, they are held back and counted. */
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'

import { ApiError } from '../../api/api-error.ts'
import { reachedAgain } from '../../api/connection.ts'
import type { Query } from '../../api/path.ts'
import { sessionHeld } from '../../api/session-half.ts'
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
/** The wait before a service that is busy or restarts is asked again. */
const BUSY_MS = 5000

export const useLive = (filter: Query, isOn: boolean, isHeld: () => boolean): Live => {
  const queries = useQueryClient()
  const [rows, setRows] = useState<readonly GenerationRow[]>([])
  const [waiting, setWaiting] = useState(0)
  const [skipped, setSkipped] = useState(0)
  const [fault, setFault] = useState<string | null>(null)
  /** How often the stream was begun again. The list then has what ended meanwhile, so the live rows begin anew. */
  const [begun, setBegun] = useState(0)
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
    const follow = async (): Promise<void> => {
      await followGenerations(JSON.parse(key) as Query, ended.signal, {
        row: (row) => void arrived.current.push(row),
        gap: (count) => setSkipped((sum) => sum + count),
      })
      await reachedAgain()
    }
    const followAgain = (): void => {
      if (ended.signal.aborted) return
      void queries.invalidateQueries({ queryKey: ['generations'] })
      setBegun((times) => times + 1)
    }
    follow()
      .catch((thrown: unknown) => {
        if (ended.signal.aborted) return
        setFault(messageOf(thrown))
        return untilPossible(thrown)
      })
      // A refusal that lasts is shown, and ends it.
      .then(followAgain, () => undefined)
    const timer = setInterval(() => {
      if (isHeld()) setWaiting(arrived.current.length)
      else show()
    }, SHOW_EVERY_MS)
    return () => {
      clearInterval(timer)
      ended.abort()
    }
  }, [key, isOn, isHeld, show, begun, queries])
  return { rows, waiting, skipped, fault, show }
}

/** Resolves when the stream can be asked for again: after an outage, or a new sign-in. Rejects if it would be refused again. */
const untilPossible = async (thrown: unknown): Promise<void> => {
  if (!(thrown instanceof ApiError)) throw thrown
  if (thrown.isUnreachable) await reachedAgain()
  else if (thrown.status === 401) await sessionHeld()
  else if (thrown.status === 503) await new Promise((resolve) => setTimeout(resolve, BUSY_MS))
  else throw thrown
}
