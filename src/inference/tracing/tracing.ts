/**
 * Watches requests for the destinations of traces. All work is done after the answer, a little in each turn of the event loop; a request
 * that no destination watches costs one look-up in a map.
 */
import type { Broadcast, Watchers } from '../../broadcast/broadcast.ts'
import type { TracedContent } from '../../broadcast/request-trace.ts'
import { traceIdIn } from '../../broadcast/trace-spans.ts'
import { derivedSpanId, readTraceParent, type TraceParent, traceParentText } from '../../broadcast/trace-ids.ts'
import type { TakeFrames } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { type Clock, turnOf } from '../../lib/clock.ts'
import type { Admitted, Finished } from '../admitted.ts'
import type { TraceContext } from '../request.ts'
import { CapturedAnswer } from './captured-answer.ts'
import { createContentRoom } from './content-room.ts'
import { namedTrace } from './named-trace.ts'
import { promptContent, traceOf } from './trace-of.ts'

export interface Tracing {
  /** Call it before the run; returns null if no destination watches. */
  watch(admitted: Admitted): Watch | null
  /** Sends the traces of all requests finished by now. */
  flush(): Promise<void>
}

export interface Watch {
  /** Wraps `take`, and keeps the content if a destination wants it. */
  observing(take: TakeFrames): TakeFrames
  /** Never waits, never throws. */
  finished(finished: Finished): void
}

export interface TracingParts {
  readonly broadcast: Pick<Broadcast, 'watchers' | 'add'>
  /** The name of a key; null if the key no longer exists. */
  readonly keyName: (hash: string) => Promise<string | null>
  /** `host` or `host:port` of providers that are sent trace headers. */
  readonly trustedHosts: () => ReadonlySet<string>
  readonly clock: Clock
  /** Called when the content of a trace, or a whole trace, was left out for lack of room. */
  readonly onLeftOut: (what: 'content' | 'trace') => void
  readonly onError: (thrown: unknown, doing: string) => void
}

/** The maximum bytes of prompts and answers that are kept at once. */
const CONTENT_BYTES_MAX = 64 * 1024 * 1024
/** The prompt of a larger request is not parsed again for its content. */
const REQUEST_BYTES_MAX = 4 * 1024 * 1024
/** The maximum number of finished requests whose traces are not sent yet. */
const WAITING_MAX = 10_000
/** The maximum milliseconds of work in one turn of the event loop. */
const TURN_MS = 4

interface Job {
  readonly finished: Finished
  readonly parent: TraceParent | null
  readonly captured: CapturedAnswer | null
}

export const createTracing = (parts: TracingParts): Tracing => {
  const { broadcast, keyName, trustedHosts, clock, onLeftOut, onError } = parts
  const room = createContentRoom(CONTENT_BYTES_MAX)
  let waiting: Job[] = []
  let working: Promise<void> | null = null

  const send = async ({ finished, parent, captured }: Job): Promise<void> => {
    try {
      const content = captured === null || captured.isLeftOut ? null : contentOf(finished, captured)
      const contentLeftOut = captured !== null && content === null
      if (contentLeftOut) onLeftOut('content')
      broadcast.add(traceOf(finished, { keyName: await keyName(finished.request.caller.keyHash), parent, content, contentLeftOut }))
    } catch (thrown) {
      onError(thrown, 'the trace of a request could not be made')
    } finally {
      captured?.free()
    }
  }

  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      await turnOf(clock)
      const endMs = clock.monotonicMs() + TURN_MS
      const jobs = waiting
      waiting = []
      let reported = 0
      for (const job of jobs) {
        await send(job)
        reported += 1
        if (clock.monotonicMs() > endMs) break
      }
      waiting = [...jobs.slice(reported), ...waiting]
    }
    working = null
  }

  return {
    watch(admitted) {
      const { request, generationId, log } = admitted
      const watchers = broadcast.watchers(request.caller.workspaceId)
      const { trace } = request.headers
      if (watchers === null && trace === null) return null
      const parent = readTraceParent(trace?.parent ?? null)
      const hosts = trustedHosts()
      if (hosts.size > 0) {
        const named = namedTrace(request)
        const traceId = watchers === null ? null : traceIdIn({ generationId, named, parent })
        log.traceHeaders = (attempt, baseUrl) =>
          isTrusted(baseUrl, hosts) ? joiningHeaders(trace, parent, traceId, derivedSpanId(generationId, `attempt ${attempt}`)) : null
      }
      if (watchers === null) return null
      const captured = wantsContent(watchers, request.apiType) ? new CapturedAnswer(room, request.bytes) : null
      return {
        observing: (take) => (captured === null ? take : captured.observing(take)),
        finished(finished) {
          if (waiting.length >= WAITING_MAX) {
            captured?.free()
            onLeftOut('trace')
            return
          }
          waiting.push({ finished, parent, captured })
          working ??= work()
        },
      }
    },
    async flush() {
      await working
    },
  }
}

/** Embeddings have no conversation. */
const wantsContent = ({ content }: Watchers, apiType: string): boolean => content && apiType === 'completions'

/** Null if the request is too large to be parsed again, or no conversation can be read in it. */
const contentOf = ({ request }: Finished, captured: CapturedAnswer): TracedContent | null => {
  if (request.bytes > REQUEST_BYTES_MAX) return null
  try {
    return { ...promptContent(request.call.prompt()), output: captured.output, toolCalls: captured.toolCalls }
  } catch (thrown) {
    // A provider of the client's own dialect may accept what cannot be read here.
    if (thrown instanceof GatewayError) return null
    throw thrown
  }
}

const isTrusted = (baseUrl: string, hosts: ReadonlySet<string>): boolean => {
  const url = URL.parse(baseUrl)
  return url !== null && (hosts.has(url.hostname.replace(/^\[|\]$/g, '')) || hosts.has(url.host))
}

/** Names the attempt's own span if the trace is sent to a destination; otherwise the client's span, since no span of ours is sent. */
const joiningHeaders = (
  received: TraceContext | null,
  parent: TraceParent | null,
  traceId: string | null,
  spanId: string,
): Readonly<Record<string, string>> | null => {
  const own = traceId === null ? parent : { traceId, spanId, sampled: parent?.sampled ?? true }
  if (own === null) return null
  const state = parent === null ? null : (received?.state ?? null)
  return { traceparent: traceParentText(own), ...(state === null || state.length > STATE_MAX ? {} : { tracestate: state }) }
}

/** The maximum length of `tracestate` that the standard asks everyone to pass on. */
const STATE_MAX = 512
