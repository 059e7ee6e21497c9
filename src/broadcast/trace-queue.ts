/**
 * Keeps waiting traces in storage as well as in the memory from which they are sent, so that the death of a process loses only those of the
 * last moment. They are written in batches after the answers: nobody waits for the writes, and if storage is unavailable, sending continues
 * from memory alone.
 */
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { repeat } from '../lib/repeat.ts'
import type { ReadRows } from '../storage/rows/damaged-row.ts'
import type { WaitingTrace, WaitingTraceStore } from '../storage/broadcast/waiting-trace-store.ts'
import type { Encoded } from './outgoing.ts'

export interface TraceQueue {
  /** Adds a trace and returns its id. Never waits, never throws. */
  add(destinationId: string, trace: Encoded): string
  /** Removes traces that no longer wait. */
  remove(ids: readonly string[]): void
  /** Returns those of the traces that still wait, by their ids. */
  read(ids: readonly string[]): Promise<ReadonlyMap<string, Encoded | null>>
  /** Looks regularly for traces that other processes left behind; the returned function stops that. */
  start(takers: () => ReadonlyMap<string, Taker>): () => void
  /** Writes what is not written yet. Waiting traces are left to the next process that looks for them. */
  close(): Promise<void>
}

/** A destination that may take traces that were left behind. */
export interface Taker {
  readonly hasRoom: boolean
  resume(trace: WaitingTrace, ageMs: number): void
}

export interface TraceQueueParts {
  readonly store: WaitingTraceStore
  /** By it every process holds its traces and takes those of others. */
  readonly clock: Clock
  readonly ids: IdSource
  readonly onError: (thrown: unknown, doing: string) => void
}

/** Traces of this last period before a process is killed may be lost. */
const WRITE_MS = 100
const AGAIN_MS = 5000
const POLL_MS = 5000
const HELD_MS = 30_000
const TAKEN_MAX = 100
const WRITTEN_AT_ONCE = 64
const BYTES_AT_ONCE = 1024 * 1024
const REMOVED_AT_ONCE = 500

export const createTraceQueue = ({ store, clock, ids, onError }: TraceQueueParts): TraceQueue => {
  const holder = ids.prefixed('sender')
  const hold = () => ({ holder, until: isoTimestamp(clock.now() + HELD_MS) })
  /** Traces that are not written yet (`unwritten`), that are being written (`underway`), and ids that are not removed yet (`unremoved`). */
  const unwritten = new Map<string, WaitingTrace>()
  let underway: ReadonlyMap<string, WaitingTrace> = new Map()
  const unremoved = new Set<string>()
  const held = new Set<string>()
  let writing: Promise<void> | null = null
  let scheduled: (() => void) | null = null
  let failed = false

  const readable = ({ read, damaged }: ReadRows<WaitingTrace>): readonly WaitingTrace[] => {
    for (const row of damaged) onError(row, 'a trace that waits cannot be read, and is not sent')
    return read
  }

  const schedule = (afterMs: number): void => {
    if (writing !== null || scheduled !== null) return
    scheduled = clock.after(afterMs, () => {
      scheduled = null
      writing = write().finally(() => {
        writing = null
        if (unwritten.size + unremoved.size > 0) schedule(failed ? AGAIN_MS : WRITE_MS)
      })
    })
  }
  /** Writes in portions, so that writes for requests can go in between. */
  const write = async (): Promise<void> => {
    failed = false
    while (unwritten.size + unremoved.size > 0 && !failed) {
      const keep = portionOf(unwritten)
      const remove = [...unremoved].slice(0, REMOVED_AT_ONCE)
      underway = new Map(keep.map((trace) => [trace.id, trace]))
      for (const { id } of keep) unwritten.delete(id)
      for (const id of remove) unremoved.delete(id)
      try {
        await store.write(keep, remove, hold())
        for (const { id } of keep) held.add(id)
        for (const id of remove) held.delete(id)
      } catch (thrown) {
        failed = true
        onError(thrown, 'traces that wait were not written')
        for (const trace of keep) if (!unremoved.delete(trace.id)) unwritten.set(trace.id, trace)
        for (const id of remove) unremoved.add(id)
      }
      underway = new Map()
    }
  }

  return {
    add(destinationId, { text, path }) {
      const id = ids.prefixed('trace')
      unwritten.set(id, { id, destinationId, createdAt: isoTimestamp(clock.now()), text, path })
      schedule(WRITE_MS)
      return id
    },
    remove(gone) {
      for (const id of gone) if (!unwritten.delete(id)) unremoved.add(id)
      if (unremoved.size > 0) schedule(WRITE_MS)
    },
    async read(wanted) {
      const found = new Map<string, Encoded | null>()
      for (const id of wanted) {
        const trace = unwritten.get(id) ?? underway.get(id)
        if (trace !== undefined) found.set(id, trace)
      }
      const stored = wanted.filter((id) => !found.has(id))
      if (stored.length > 0) {
        const rows = await store.read(stored)
        for (const trace of readable(rows)) found.set(trace.id, trace)
        for (const { id } of rows.damaged) found.set(id, null)
      }
      return found
    },
    start(takers) {
      const look = async (): Promise<void> => {
        if (held.size > 0) await store.write([], [], hold())
        const all = takers()
        const open = [...all].flatMap(([id, { hasRoom }]) => (hasRoom ? [id] : []))
        if (open.length === 0) return
        const nowMs = clock.now()
        for (const trace of readable(await store.take(open, isoTimestamp(nowMs), TAKEN_MAX, hold()))) {
          held.add(trace.id)
          all.get(trace.destinationId)?.resume(trace, Math.max(0, nowMs - Date.parse(trace.createdAt)))
        }
      }
      return repeat(clock, POLL_MS, look, (thrown) => onError(thrown, 'traces that were left behind are not taken up'))
    },
    async close() {
      scheduled?.()
      scheduled = null
      await writing
      await write()
      if (held.size > 0) await store.release(holder).catch((thrown: unknown) => onError(thrown, 'traces that wait were not handed on'))
    },
  }
}

const portionOf = (unwritten: ReadonlyMap<string, WaitingTrace>): readonly WaitingTrace[] => {
  const portion: WaitingTrace[] = []
  let bytes = 0
  for (const trace of unwritten.values()) {
    if (portion.length >= WRITTEN_AT_ONCE || bytes >= BYTES_AT_ONCE) break
    portion.push(trace)
    bytes += trace.text.length
  }
  return portion
}
