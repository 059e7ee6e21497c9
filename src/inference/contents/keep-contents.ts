/**
 * Stores requests and answers if the workspace wants that (docs/contract/management.md#contents). All work is done after the answer; a
 * request whose contents are not stored costs one comparison.
 */
import type { ClientDialect } from '../../canonical/call.ts'
import type { TakeFrames } from '../../canonical/event.ts'
import type { ClientFormat } from '../../formats/format.ts'
import { isoTimestamp, turnOf, type Clock } from '../../lib/clock.ts'
import { parseJsonInSteps } from '../../lib/json/json-steps.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { type Steps, throughout, type Turn } from '../../lib/steps.ts'
import type { ContentStore, StoredContent } from '../../storage/generations/content-store.ts'
import type { Admitted, Finished } from '../admitted.ts'
import { answerHead, answerTail } from '../answer-head.ts'
import { createContentRoom } from '../tracing/content-room.ts'
import type { Planned } from '../request.ts'
import { withoutOwnCredentials } from '../screen/own-credentials.ts'
import { KeptAnswer } from './kept-answer.ts'

export interface Contents {
  /** Call it before the run; returns null if nothing of the request is stored. */
  watch(admitted: Admitted): KeptContent | null
  /** Resolves when the contents of all requests finished by now are stored or were given up. */
  flush(): Promise<void>
}

export interface KeptContent {
  observing(take: TakeFrames): TakeFrames
  /** Never waits, never throws. */
  finished(finished: Finished): void
}

export interface ContentsParts {
  readonly store: Pick<ContentStore, 'insert'>
  readonly formats: Readonly<Record<ClientDialect, Pick<ClientFormat, 'renderAnswer'>>>
  readonly clock: Clock
  readonly startTurn: () => Turn
  readonly onError: (thrown: unknown, doing: string) => void
}

/** The maximum bytes of one request; of a larger one only the beginning is stored. */
const REQUEST_MAX = 2 * 1024 * 1024
/** The maximum bytes of all contents that wait to be stored. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024
const DAY_MS = 86_400_000

interface Job {
  readonly admitted: Admitted
  readonly finished: Finished
  readonly answer: KeptAnswer
  readonly retentionDays: number
  /** Called when the contents are stored, or given up. */
  readonly over: () => void
}

export const createContents = ({ store, formats, clock, startTurn, onError }: ContentsParts): Contents => {
  const room = createContentRoom(WAITING_BYTES_MAX)
  const waiting: Job[] = []
  let isWorking = false
  /** Resolves when the contents that were added last are stored or were given up. */
  let last = Promise.resolve()

  const work = async (): Promise<void> => {
    if (isWorking) return
    isWorking = true
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      // One job in each turn of the event loop, so that requests continue in between.
      await turnOf(clock)
      try {
        await store.insert([await storedContent(job, formats, startTurn())])
      } catch (thrown) {
        onError(thrown, 'the contents of a request were not stored')
      } finally {
        job.over()
      }
    }
    isWorking = false
  }

  return {
    watch(admitted) {
      const { contents, bytes } = admitted.request
      if (contents === null) return null
      const held = Math.min(bytes, REQUEST_MAX)
      if (!room.take(held)) {
        onError(new Error('Too many contents wait to be stored.'), 'the contents of a request were not kept')
        return null
      }
      const answer = new KeptAnswer(room)
      const free = (): void => {
        answer.free()
        room.free(held)
      }
      return {
        observing: (take) => answer.observing(take),
        finished(finished) {
          const stored = Promise.withResolvers<void>()
          last = stored.promise
          const over = (): void => {
            free()
            stored.resolve()
          }
          waiting.push({ admitted, finished, answer, retentionDays: contents.retentionDays, over })
          void work()
        },
      }
    },
    // They are stored one after another. Those that are added meanwhile are not waited for: under load they have no end.
    flush: () => last,
  }
}

/** The request and the answer may each be megabytes, so each is read in steps. */
const storedContent = async (
  { admitted, finished, answer, retentionDays }: Job,
  formats: ContentsParts['formats'],
  turn: Turn,
): Promise<StoredContent> => {
  const { generationId, createdMs, request } = finished
  const asked = await throughout(requestContent(request), turn)
  const answered = await throughout(answerContent(admitted, answer, formats[request.call.dialect]), turn)
  return {
    id: generationId,
    workspaceId: request.caller.workspaceId,
    createdAt: isoTimestamp(createdMs),
    expiresAt: isoTimestamp(createdMs + retentionDays * DAY_MS),
    content: {
      interface: request.call.dialect,
      ...asked,
      ...answered,
      error: errorContent(finished),
    },
  }
}

/** The request as the client sent it, without credentials; if a guardrail replaced something, the replaced version. */
function* requestContent({ body, call, effects }: Planned): Steps<JsonObject> {
  const isReplaced = effects.some(({ type, data }) => type === 'guardrail' && data['action'] === 'redacted')
  const sent = isReplaced ? call.body : body
  const bytes = sent.byteLength
  const asked = yield* withoutOwnCredentials(sent)
  if (bytes > REQUEST_MAX)
    return { request: null, request_beginning: asked.beginning(REQUEST_MAX), request_bytes: bytes, request_cut: true }
  return { request: yield* objectInSteps(asked.text), request_bytes: bytes, request_cut: false }
}

/** The whole answer in the client's dialect, even if it was streamed. */
function* answerContent(admitted: Admitted, kept: KeptAnswer, format: Pick<ClientFormat, 'renderAnswer'>): Steps<JsonObject> {
  const { answer, isCut } = kept
  if (answer === null) return { answer: null, answer_cut: isCut }
  const text = yield* format.renderAnswer(answerHead(admitted), answer, answerTail(admitted, null), admitted.log.error)
  return { answer: yield* objectInSteps(text), answer_cut: isCut }
}

function* objectInSteps(json: string): Steps<JsonObject | null> {
  try {
    const value = yield* parseJsonInSteps(json)
    return isObject(value) ? value : null
  } catch {
    return null // A model wrote this JSON, so it may be invalid.
  }
}

const errorContent = ({ log, httpStatus }: Finished): JsonObject | null => {
  const { error } = log
  if (error === null) return null
  const { provider_name, raw, previous_errors } = error.metadata
  return {
    status: httpStatus ?? error.status,
    type: error.type,
    message: error.message,
    provider_name: typeof provider_name === 'string' ? provider_name : null,
    raw: typeof raw === 'string' || isObject(raw) ? (raw as JsonValue) : null,
    previous_errors: Array.isArray(previous_errors) ? (previous_errors as JsonValue[]) : [],
  }
}
