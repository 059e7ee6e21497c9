/** Streams requests as they end. Storage is queried each second, so that the requests of all processes are shown. */
import { z } from 'zod'

import { generationFilters } from '../../contract/generation-list.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { GatewayError } from '../../errors.ts'
import { isoTimestamp } from '../../lib/clock.ts'
import { repeat } from '../../lib/repeat.ts'
import { KEEP_ALIVE_FRAME } from '../../lib/network/sse.ts'
import type { GenerationFilter } from '../../storage/generations/generation-filter.ts'
import { STREAM_HEADERS } from '../response/event-stream.ts'
import { openResponseWriter } from '../response/response-writer.ts'
import { asksAs, type Route, type RouteRequest } from '../route.ts'
import { filterOf, type GenerationListParts, rowOf } from './generations.ts'

export interface GenerationStreamParts extends GenerationListParts {
  /** Rejects if the caller may no longer read. */
  readonly requireCaller: (request: RouteRequest) => Promise<void>
  readonly isDraining: () => boolean
}

const POLL_MS = 1000
/** A record is written after its answer, and by any process, so requests that ended this long ago are looked at again. */
const LATE_MS = 10_000
const ROWS_MAX = 20
/** If one moment has more than these, the rest is not even counted. */
const COUNTED_MAX = 20_000
const SILENT_MS = 10_000
/** A reader that takes nothing for this long is disconnected. */
const UNREAD_MS = 60_000
const STREAMS_MAX = 20

export const generationsStream = (parts: GenerationStreamParts): Route => {
  const open = new Map<string, number>()
  return {
    method: 'GET',
    path: '/generations/stream',
    operation: 'streamGenerations',
    summary: 'Follow the requests for models as they end',
    tag: 'Generations',
    policy: 'own',
    surface: 'management',
    query: { ...generationFilters, ...inWorkspace },
    answers: {
      200: {
        description:
          'Events: `generation` with a row as `GET /generations` lists it, `gap` with `{skipped}` where there were too many to send.',
        schema: z.looseObject({}),
        stream: true,
      },
    },
    errors: [400, 404, 503],
    async handle(request) {
      const caller = asksAs(request)
      const filter = await filterOf(request, parts)
      const count = open.get(caller) ?? 0
      if (count >= STREAMS_MAX) {
        throw new GatewayError('provider_overloaded', 'You have too many open streams. Close one, then try again.', {
          metadata: { reason: 'busy' },
        })
      }
      open.set(caller, count + 1)
      const body = followed(request, filter, parts, () => {
        const left = (open.get(caller) ?? 1) - 1
        if (left === 0) open.delete(caller)
        else open.set(caller, left)
      })
      return new Response(body, { headers: STREAM_HEADERS })
    },
  }
}

const followed = (
  request: RouteRequest,
  filter: GenerationFilter,
  parts: GenerationStreamParts,
  onEnd: () => void,
): ReadableStream<Uint8Array> => {
  const { clock, list } = parts
  let known: ReadonlySet<string> | null = null
  let skipped = 0
  let sentMs = clock.monotonicMs()
  let takenMs = sentMs
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    stop()
    onEnd()
  }
  const writer = openResponseWriter(end)

  const send = (text: string): void => {
    sentMs = clock.monotonicMs()
    void writer.write(text)
  }

  const poll = async (): Promise<void> => {
    if (parts.isDraining()) return finish()
    const ended = await list.ended(filter, isoTimestamp(clock.now() - LATE_MS), COUNTED_MAX)
    const before = known
    known = new Set(ended.map(({ id }) => id))
    // Requests that had ended when the stream began are in the list.
    const fresh = before === null ? [] : ended.filter(({ id }) => !before.has(id))
    const nowMs = clock.monotonicMs()
    if (!writer.full) takenMs = nowMs
    const shown = writer.full ? [] : fresh.slice(-ROWS_MAX)
    skipped += fresh.length - shown.length
    if (writer.full) {
      if (nowMs - takenMs >= UNREAD_MS) finish()
      return
    }
    const rows = await list.byIds(shown.map(({ id }) => id))
    if (isOver) return
    if (skipped > 0) send(eventText('gap', { skipped }))
    skipped = 0
    for (const row of rows) send(eventText('generation', rowOf(row)))
    if (nowMs - sentMs >= SILENT_MS) send(KEEP_ALIVE_FRAME)
  }

  const finish = (): void => {
    end()
    writer.end('')
  }

  const stop = repeat(
    clock,
    POLL_MS,
    async () => {
      try {
        await parts.requireCaller(request)
      } catch (thrown) {
        // A failure of storage says nothing about the caller; a refusal below 500 means that the key was revoked or the session has ended.
        if (!(thrown instanceof GatewayError) || thrown.status >= 500) throw thrown
        return finish()
      }
      await poll()
    },
    parts.onError,
  )
  send(KEEP_ALIVE_FRAME)
  poll().catch(parts.onError)
  request.signal.addEventListener('abort', end, { once: true })
  if (request.signal.aborted) end()
  return writer.body
}

const eventText = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
