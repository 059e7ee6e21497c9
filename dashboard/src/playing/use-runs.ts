import { useCallback, useEffect, useRef, useState } from 'react'

import type { Asked } from './conversation-input.ts'
import { type Run, runRequest } from './run.ts'

export interface Runs {
  /** By the name of the column. */
  readonly runs: Readonly<Record<string, Run>>
  readonly isRunning: boolean
  start(asked: Readonly<Record<string, Asked>>): void
  stop(): void
}

/** Runs requests side by side. A new start, and leaving the page, aborts those that are running. */
export const useRuns = (): Runs => {
  const [runs, setRuns] = useState<Readonly<Record<string, Run>>>({})
  const connection = useRef<AbortController | null>(null)
  const stop = useCallback(() => connection.current?.abort(), [])
  useEffect(() => stop, [stop])
  const start = useCallback(
    (asked: Readonly<Record<string, Asked>>) => {
      stop()
      const started = new AbortController()
      connection.current = started
      setRuns({})
      for (const [column, one] of Object.entries(asked)) {
        void runRequest(one, started.signal, (run) => {
          if (connection.current === started) setRuns((before) => ({ ...before, [column]: run }))
        })
      }
    },
    [stop],
  )
  return { runs, isRunning: Object.values(runs).some(({ state }) => state === 'running'), start, stop }
}
