/**
 * A request that the service makes by itself for somebody who manages it: a test, or an item of an evaluation. It goes the
 * way of any request, is paid for by the key that asked for it, and its record says where it came from.
 */
import type { Frame } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import { chatFormat } from '../formats/openai-chat/openai-chat.ts'
import type { Principal } from '../keys/keys.ts'
import type { Clock } from '../lib/clock.ts'
import { JsonBody } from '../lib/json-body.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Pipeline } from './pipeline.ts'
import { Refused } from './refused.ts'
import { statusOf } from './run/attempt-outcome.ts'
import type { Received, UsedPreset } from './stages.ts'

/** What a record names as the origin of such a request. */
export type OwnOrigin = 'test' | 'evaluation'

export interface OwnRequest {
  /** Who pays. */
  readonly principal: Principal
  /** A body of Chat Completions. */
  readonly body: JsonObject
  readonly origin: OwnOrigin
  readonly requestId: string
  /** It is given up after this long. */
  readonly withinMs: number
  /** Gives it up. */
  readonly signal?: AbortSignal
}

export interface OwnAnswer {
  /** Null where it was refused before anybody was asked. */
  readonly generationId: string | null
  readonly error: GatewayError | null
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
  readonly preset: UsedPreset | null
  /** What the last provider answered; null where none did. */
  readonly status: number | null
  readonly costNanos: number
  readonly ttftMs: number | null
  readonly totalMs: number
}

export type MakeRequest = (request: OwnRequest) => Promise<OwnAnswer>

export const createMakeRequest =
  (pipeline: Pick<Pipeline, 'admit' | 'answer'>, clock: Clock): MakeRequest =>
  async ({ principal, body, origin, requestId, withinMs, signal }) => {
    const startedMs = clock.monotonicMs()
    const admitted = await pipeline.admit(ownReceived(principal, body, requestId, origin))
    if (admitted instanceof Refused) return { ...NOTHING, error: admitted.error, totalMs: clock.monotonicMs() - startedMs }
    const { connection, log } = admitted
    const giveUp = (): void => connection.stop(new GatewayError('timeout', `No answer within ${Math.round(withinMs / 1000)} seconds.`))
    const cancelLimit = clock.after(withinMs, giveUp)
    const leave = (): void => connection.leave()
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted === true) leave()
    const frames: Frame[] = []
    const error = await pipeline.answer(admitted, (batch) => void frames.push(...batch))
    cancelLimit()
    signal?.removeEventListener('abort', leave)
    const attempt = log.current
    return {
      generationId: admitted.generationId,
      error,
      ...saidIn(frames),
      preset: admitted.request.preset,
      status: attempt === undefined || !attempt.asked ? null : statusOf(attempt),
      costNanos: admitted.bill.cost.totalNanos ?? 0,
      ttftMs: log.latencyMs,
      totalMs: log.elapsedMs,
    }
  }

/** Such a request as it comes in. */
export const ownReceived = (principal: Principal, body: JsonObject, requestId: string, origin: OwnOrigin): Received => {
  const text = JSON.stringify(body)
  return {
    apiType: 'completions',
    format: chatFormat,
    body: JsonBody.read(text),
    bytes: text.length,
    principal,
    permit: null,
    requestId,
    origin,
    userAgent: null,
    referer: null,
    headers: { strict: false, sessionId: null, vendor: null, trace: null, sent: null },
  }
}

const NOTHING = { generationId: null, text: '', calls: [], preset: null, status: null, costNanos: 0, ttftMs: null } as const

const saidIn = (frames: readonly Frame[]): Pick<OwnAnswer, 'text' | 'calls'> => {
  let text = ''
  const calls: { name: string; arguments: string }[] = []
  for (const event of frames.flatMap(({ events }) => events)) {
    if (event.type === 'text') text += event.text
    else if (event.type === 'text-break') text += '\n\n'
    else if (event.type === 'tool-call') calls[event.index] = { name: event.name, arguments: '' }
    else if (event.type === 'tool-arguments') {
      const call = calls[event.index]
      if (call !== undefined) call.arguments += event.json
    }
  }
  return { text, calls: calls.filter((call) => call !== undefined) }
}
