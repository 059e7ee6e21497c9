/**
 * A request that the service makes itself for someone who manages it: a test, or an item of an evaluation. It goes through the same steps
 * as any request, the key that asked for it pays, and its record names its origin.
 */
import type { ClientDialect } from '../canonical/call.ts'
import type { Frame } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import { FORMATS } from '../formats/formats.ts'
import type { Principal } from '../keys/principal.ts'
import type { Clock } from '../lib/clock.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import type { JsonObject } from '../lib/json/json.ts'
import type { Pipeline } from './pipeline.ts'
import { Refused } from './refused.ts'
import { statusOf } from './run/attempt-outcome.ts'
import type { Received, UsedPreset } from './request.ts'

/** The origins that a record names for such a request. */
export const OWN_ORIGINS = ['test', 'evaluation'] as const
export type OwnOrigin = (typeof OWN_ORIGINS)[number]

export interface OwnBody {
  readonly body: JsonObject
  /** The interface of the body. */
  readonly dialect: ClientDialect
}

export interface OwnRequest extends OwnBody {
  /** The key that pays. */
  readonly principal: Principal
  readonly origin: OwnOrigin
  readonly requestId: string
  /** The request is given up after this many milliseconds. */
  readonly withinMs: number
  /** Aborting it gives the request up. */
  readonly signal?: AbortSignal
}

export interface OwnAnswer {
  /** Null if the request was refused before any provider was asked. */
  readonly generationId: string | null
  readonly error: GatewayError | null
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
  readonly preset: UsedPreset | null
  /** The status of the last provider's answer; null if none answered. */
  readonly status: number | null
  /** On a customer's own key, the charge of its provider. */
  readonly costNanos: number
  /** True if the budgets could not pay for all of its tools, so that the answer differs from one without that limit. */
  readonly cutByBudget: boolean
  readonly ttftMs: number | null
  readonly totalMs: number
}

export type MakeRequest = (request: OwnRequest) => Promise<OwnAnswer>

export const createMakeRequest =
  (pipeline: Pick<Pipeline, 'admit' | 'answer'>, clock: Clock): MakeRequest =>
  async ({ withinMs, signal, ...request }) => {
    const startedMs = clock.monotonicMs()
    const admitted = await pipeline.admit(ownReceived(request))
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
    const { cost } = admitted.bill
    return {
      generationId: admitted.generationId,
      error,
      ...saidIn(frames),
      preset: admitted.request.preset,
      status: attempt === undefined || !attempt.asked ? null : statusOf(attempt),
      costNanos: cost.totalNanos + cost.customersNanos,
      cutByBudget: admitted.loop?.stoppedBy === 'budget',
      ttftMs: log.latencyMs,
      totalMs: log.elapsedMs,
    }
  }

/** Builds the request in the form of one that a client sent. */
export const ownReceived = ({ principal, body, dialect, requestId, origin }: Omit<OwnRequest, 'withinMs' | 'signal'>): Received => {
  const text = JSON.stringify(body)
  return {
    apiType: 'completions',
    format: FORMATS[dialect],
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

const NOTHING = {
  generationId: null,
  text: '',
  calls: [],
  preset: null,
  status: null,
  costNanos: 0,
  cutByBudget: false,
  ttftMs: null,
} as const

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
