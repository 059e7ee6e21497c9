/**
 * Delivers the traces of one destination: in batches, retried until the destination takes them, for up to an hour. Only the first waiting
 * traces are in memory; the texts of the others are in storage alone (trace-queue.ts), so that a long queue costs the other requests
 * nothing. While a destination fails, only one batch at a time is tried, and no traces of other processes are taken over for it: a dead
 * destination costs one request every few minutes. Traces that it does not take in time, or for which there is no room, are dropped and
 * counted (docs/contract/broadcast.md#delivery).
 */
import { promisify } from 'node:util'

import type { DestinationResource } from '../contract/destination.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { type SafeFetch, type SafeResponse, UnsafeRequest } from '../providers/transport/safe-fetch.ts'
import type { WaitingTrace } from '../storage/broadcast/waiting-trace-store.ts'
import type { Encoded, Outgoing } from './outgoing.ts'
import type { Sender } from './senders.ts'

/** `retried` counts requests, all others count traces. */
export type Outcome = 'delivered' | 'refused' | 'retried' | 'dropped_full' | 'dropped_old' | 'dropped_damaged' | 'dropped_at_end'

export interface Delivery {
  /** Never waits, never throws. */
  add(trace: Encoded): void
  /** Replaces the sender by another one of the same type. */
  use(sender: Sender): void
  /** Takes over a trace that another process left behind, and that has waited for so long. */
  resume(trace: WaitingTrace, ageMs: number): void
  /** Says whether there is room for more traces from earlier processes. */
  readonly hasRoom: boolean
  /**
   * Tries waiting traces once more; those that are not taken are left in storage, or dropped if they are not stored. Nothing can be added
   * after that.
   */
  close(): Promise<void>
  /** Sends nothing more and drops the queue. */
  stop(): void
  readonly health: DeliveryHealth
  /** How long the first waiting trace has waited, in milliseconds; 0 if none waits. */
  readonly oldestMs: number
}

export type DeliveryHealth = DestinationResource['health']

export interface DeliveryParts {
  readonly sender: Sender
  readonly clock: Clock
  /** Returns the fetch as currently configured. */
  readonly fetch: () => SafeFetch
  readonly timeoutMs: number
  readonly count: (outcome: Outcome, traces: number) => void
  /** Called at most once a minute, for a destination whose `health` nobody can ask for. */
  readonly onFailure?: (reason: string) => void
  /** Null if waiting traces are kept in memory alone. */
  readonly kept: KeptTraces | null
}

/** The waiting traces in storage. */
export interface KeptTraces {
  add(trace: Encoded): string
  remove(ids: readonly string[]): void
  /** Returns those of the traces that still wait, by their ids; null for one that cannot be read. */
  read(ids: readonly string[]): Promise<ReadonlyMap<string, Encoded | null>>
}

const QUEUE_MAX = 10_000
const QUEUE_BYTES_MAX = 64 * 1024 * 1024
/** The most bytes of text kept in memory for traces that are stored too: one batch. */
const TEXT_BYTES_MAX = 4 * 1024 * 1024
const BATCH_BYTES_MAX = 4 * 1024 * 1024
const BATCH_MS = 1000
const BACKOFF_MIN_MS = 1000
const BACKOFF_MAX_MS = 5 * 60 * 1000
/** The time for all waiting traces when the process ends. */
const LAST_MS = 5000
const AGE_MAX_MS = 60 * 60 * 1000
const ANSWER_MAX_BYTES = 64 * 1024
const TOLD_AGAIN_MS = 60_000

type Waiting = (InMemory | InStorage) & { readonly bytes: number; readonly addedMs: number }

interface InMemory {
  /** The id in storage; null if the trace is not stored. */
  readonly id: string | null
  readonly trace: Encoded
}

interface InStorage {
  readonly id: string
  readonly trace: null
}

/** Why a batch was not taken, and whether and when to try it again. */
interface Failure {
  readonly reason: string
  readonly again: boolean
  readonly afterMs: number | null
  readonly tooLarge: boolean
}

export const createDelivery = (parts: DeliveryParts): Delivery => {
  const { clock, count, kept } = parts
  let { sender } = parts
  let queue: Waiting[] = []
  let bytes = 0
  let textBytes = 0
  let failures = 0
  let sending: Promise<void> | null = null
  let scheduled: (() => void) | null = null
  let ended = false
  let lastSuccess: string | null = null
  let lastError: string | null = null
  let toldMs = Number.NEGATIVE_INFINITY
  let dropped = 0
  /** The traces of one batch: halved when a batch is too large for the destination, and one more after each that is taken. */
  let most = Number.POSITIVE_INFINITY

  const drop = (outcome: Outcome, traces: number): void => {
    if (traces === 0) return
    dropped += traces
    count(outcome, traces)
  }

  const removeFirst = (traces: number): void => {
    const gone = queue.slice(0, traces)
    for (const one of gone) {
      bytes -= one.bytes
      if (one.trace !== null) textBytes -= one.bytes
    }
    queue = queue.slice(traces)
    kept?.remove(gone.flatMap(({ id }) => id ?? []))
  }

  const dropOld = (): void => {
    const oldestMs = clock.monotonicMs() - AGE_MAX_MS
    const found = queue.findIndex(({ addedMs }) => addedMs > oldestMs)
    const old = found === -1 ? queue.length : found
    removeFirst(old)
    drop('dropped_old', old)
  }

  const schedule = (afterMs: number): void => {
    if (ended || sending !== null) return
    scheduled?.()
    scheduled = clock.after(afterMs, () => {
      scheduled = null
      sending ??= sendAll()
    })
  }

  /** Sends batches until none waits or one is not taken. */
  const sendAll = async (): Promise<void> => {
    let waitMs: number | null = null
    while (queue.length > 0 && waitMs === null) waitMs = await sendBatch()
    sending = null
    if (queue.length > 0) schedule(waitMs ?? BATCH_MS)
    // The traces that had failed were refused or grew too old: no further attempt is planned for which new ones could wait.
    else failures = 0
  }

  /** Returns null if the next batch may follow at once, else the milliseconds to wait. */
  const sendBatch = async (): Promise<number | null> => {
    dropOld()
    const batch = nextBatch(queue, Math.min(sender.most, most))
    if (batch.length === 0) return null
    const { failure, traces, damaged } = await send(sender, batch, parts)
    if (failure === null) {
      removeFirst(batch.length)
      drop('dropped_damaged', damaged)
      failures = 0
      if (traces === 0) return null
      most += 1
      lastSuccess = isoTimestamp(clock.now())
      count('delivered', traces)
      return null
    }
    lastError = failure.reason
    tell(failure.reason)
    if (failure.tooLarge && batch.length > 1) {
      most = Math.ceil(batch.length / 2)
      count('retried', 1)
      return null
    }
    if (!failure.again) {
      removeFirst(batch.length)
      drop('dropped_damaged', damaged)
      drop('refused', batch.length - damaged)
      return null
    }
    count('retried', 1)
    failures += 1
    return Math.min(BACKOFF_MAX_MS, failure.afterMs ?? BACKOFF_MIN_MS * 2 ** Math.min(failures - 1, 20))
  }

  const tell = (reason: string): void => {
    if (clock.monotonicMs() - toldMs < TOLD_AGAIN_MS) return
    toldMs = clock.monotonicMs()
    parts.onFailure?.(reason)
  }

  const push = (id: string | null, trace: Encoded, size: number, addedMs: number): void => {
    const common = { bytes: size, addedMs }
    if (id === null || textBytes + size <= TEXT_BYTES_MAX) {
      queue.push({ id, trace, ...common })
      textBytes += size
    } else queue.push({ id, trace: null, ...common })
    bytes += size
    if (failures > 0 || sending !== null) return
    if (queue.length >= sender.most) schedule(0)
    else if (scheduled === null) schedule(BATCH_MS)
  }

  return {
    add(trace) {
      const size = Buffer.byteLength(trace.text)
      if (ended || queue.length >= QUEUE_MAX || bytes + size > QUEUE_BYTES_MAX) {
        drop('dropped_full', 1)
        return
      }
      push(kept?.add(trace) ?? null, trace, size, clock.monotonicMs())
    },
    resume({ id, text, path }, ageMs) {
      if (ended) return
      push(id, { text, path }, Buffer.byteLength(text), clock.monotonicMs() - ageMs)
    },
    get hasRoom() {
      return !ended && failures === 0 && queue.length < QUEUE_MAX / 2 && bytes < QUEUE_BYTES_MAX / 2
    },
    use(next) {
      sender = next
      failures = 0
      if (queue.length > 0) schedule(0)
    },
    async close() {
      scheduled?.()
      scheduled = null
      // Failures from here on are not retried, because the caller is closing.
      ended = true
      const late = Promise.withResolvers<void>()
      const cancel = clock.after(LAST_MS, late.resolve)
      await Promise.race([sending ?? sendAll(), late.promise])
      cancel()
      const lost = queue.filter(({ id }) => id === null).length
      drop('dropped_at_end', lost)
      queue = []
    },
    stop() {
      ended = true
      scheduled?.()
      removeFirst(queue.length)
    },
    get health() {
      return { last_success_at: lastSuccess, last_error: lastError, dropped, queued: queue.length }
    },
    get oldestMs() {
      const [first] = queue
      return first === undefined ? 0 : clock.monotonicMs() - first.addedMs
    },
  }
}

const nextBatch = (queue: readonly Waiting[], most: number): readonly Waiting[] => {
  let size = 0
  const first = queue.slice(0, most)
  const past = first.findIndex(({ bytes }, at) => (size += bytes) > BATCH_BYTES_MAX && at > 0)
  return past === -1 ? first : first.slice(0, past)
}

/** `traces`: the number that was sent. Of the others, `damaged` cannot be read, and another process may have taken over the rest. */
const send = async (
  sender: Sender,
  batch: readonly Waiting[],
  parts: DeliveryParts,
): Promise<{ readonly failure: Failure | null; readonly traces: number; readonly damaged: number }> => {
  let damaged = 0
  try {
    const found = await readStored(batch, parts.kept)
    damaged = [...found.values()].filter((trace) => trace === null).length
    const traces = batch.flatMap(({ id, trace }) => trace ?? found.get(id) ?? [])
    if (traces.length === 0) return { failure: null, traces: 0, damaged }
    const outgoing = await sender.request(traces, parts.clock.now())
    return { failure: failureIn(await post(outgoing, parts.fetch(), parts.timeoutMs)), traces: traces.length, damaged }
  } catch (thrown) {
    // A refused address stays refused, but a connection, or storage, may work the next time.
    const again = !(thrown instanceof UnsafeRequest) || thrown.kind === 'connection'
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    return { failure: { reason, again, afterMs: null, tooLarge: false }, traces: 0, damaged }
  }
}

const readStored = async (batch: readonly Waiting[], kept: KeptTraces | null): Promise<ReadonlyMap<string, Encoded | null>> => {
  const stored = batch.flatMap(({ id, trace }) => (trace === null ? id : []))
  return kept === null || stored.length === 0 ? NONE : kept.read(stored)
}

const NONE: ReadonlyMap<string, Encoded> = new Map()

const compress = (body: string | Uint8Array): Promise<Buffer> => promisify(process.getBuiltinModule('node:zlib').gzip)(body)

/** Redirects are not followed, so that traces for one address are not sent to another. */
export const post = async (
  { url, method, headers, body, gzip: packs }: Outgoing,
  fetch: SafeFetch,
  timeoutMs: number,
): Promise<SafeResponse> =>
  fetch({
    url,
    method,
    headers: packs ? { ...headers, 'content-encoding': 'gzip' } : headers,
    body: packs ? await compress(body) : body,
    timeoutMs,
    maxBytes: ANSWER_MAX_BYTES,
    redirects: 0,
  })

const failureIn = ({ status, retryAfterSeconds = 0 }: SafeResponse): Failure | null => {
  if (status >= 200 && status < 300) return null
  const again = status === 408 || status === 429 || status >= 500
  // No wait at all would be one request after the other for as long as the destination fails.
  const afterMs = retryAfterSeconds === 0 ? null : retryAfterSeconds * 1000
  return { reason: `It answered ${status}.`, again, afterMs, tooLarge: status === 413 }
}
