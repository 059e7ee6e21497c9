import { useCallback, useEffect, useRef, useState } from 'react'

import { type Run, runRequest, type Titled } from './run.ts'

export interface Runs {
  /** By the name of the column. */
  readonly runs: Readonly<Record<string, Run>>
  readonly isRunning: boolean
  start(asked: Readonly<Record<string, Titled>>): void
  stop(): void
  /** Aborts the request of a column, and gives each answer after it to the column before, as the columns move up. */
  remove(columns: readonly string[], index: number): void
}

interface Lane {
  column: string
  readonly connection: AbortController
}

/** Runs requests side by side. A new start, and leaving the page, aborts those that are running. */
export const useRuns = (): Runs => {
  const [runs, setRuns] = useState<Readonly<Record<string, Run>>>({})
  const lanes = useRef<readonly Lane[]>([])
  const stop = useCallback(() => lanes.current.forEach(({ connection }) => connection.abort()), [])
  useEffect(() => stop, [stop])
  const start = useCallback(
    (asked: Readonly<Record<string, Titled>>) => {
      stop()
      setRuns({})
      lanes.current = Object.entries(asked).map(([column, one]) => {
        const lane: Lane = { column, connection: new AbortController() }
        void runRequest(one, lane.connection.signal, (run) => {
          if (lanes.current.includes(lane)) setRuns((before) => ({ ...before, [lane.column]: run }))
        })
        return lane
      })
    },
    [stop],
  )
  const remove = useCallback((columns: readonly string[], index: number) => {
    const moved = new Map(columns.filter((_, at) => at !== index).map((column, at) => [column, columns[at] ?? column]))
    lanes.current = lanes.current.filter((lane) => {
      const column = moved.get(lane.column)
      if (column === undefined) lane.connection.abort()
      else lane.column = column
      return column !== undefined
    })
    setRuns((before) =>
      Object.fromEntries(
        Object.entries(before).flatMap(([name, run]) => {
          const column = moved.get(name)
          return column === undefined ? [] : [[column, run]]
        }),
      ),
    )
  }, [])
  return { runs, isRunning: Object.values(runs).some(({ state }) => state === 'running'), start, stop, remove }
}
