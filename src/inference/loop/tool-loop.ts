/**
 * An answer that takes several turns of a model: it calls tools that the service runs, reads their results, and goes on, until
 * it answers or a limit ends the loop. The client sees one answer (docs/contract/tools.md#server-tools).
 */
import type { TakeFrames } from '../../canonical/event.ts'
import type { Message, Prompt } from '../../canonical/prompt.ts'
import type { ServerToolFault } from '../../canonical/server-tools.ts'
import type { GatewayError } from '../../errors.ts'
import type { ScreenLimits } from '../../guardrails/screen-request.ts'
import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { AskModel } from '../../tools/ask.ts'
import type { SealedResults } from '../../tools/sealed-results.ts'
import type { ToolSettings } from '../../tools/settings.ts'
import type { Admitted } from '../admitted.ts'
import { runJudged } from '../judge/run-judged.ts'
import type { RunParts } from '../run/run.ts'
import { loopLimits, stopAfter } from './loop-limits.ts'
import { LoopReport } from './loop-report.ts'
import { readModelTurn, type ModelTurn } from './model-turn.ts'
import { type EndedCall, resultParts, runCalls } from './run-calls.ts'
import { screenToolText } from './screen-tool-text.ts'
import { unwrapCalls, type UnwrappedCalls } from './unwrap-calls.ts'
import type { OfferedTools } from './offered-tool.ts'

export interface LoopParts extends RunParts, Omit<ScreenLimits, 'clock'> {
  readonly clock: Clock
  readonly ids: IdSource
  /** As the configuration has them now. */
  readonly toolSettings: () => ToolSettings
  readonly sealedResults: SealedResults
  /** The process is about to end: answers come to their end. */
  readonly isDraining: () => boolean
  /** For tools that ask a model: within this request. */
  readonly askModel: (outer: Admitted) => AskModel
}

/** As `run`, for a request with tools of the service's. */
export const answerWithTools = async (
  admitted: Admitted,
  offered: OfferedTools,
  parts: LoopParts,
  take: TakeFrames,
): Promise<GatewayError | null> => {
  const { request, connection, log, hold } = admitted
  const settings = parts.toolSettings()
  const ask = parts.askModel(admitted)
  const limits = loopLimits(request.call, settings)
  const report = new LoopReport()
  admitted.loop = report
  const appended: Message[] = []
  const deadlineMs = parts.clock.monotonicMs() + settings.loop.seconds * 1000
  const screen = screenToolText(request, parts)
  let malformed = 0
  let forgot = false

  for (;;) {
    const isFirst = report.turns === 0
    const isFinal = report.stoppedBy !== null
    const turn = readModelTurn((name) => isFinal || offered.byName.has(name), isFirst)
    const deliver = breakingText(turn, report, take)
    const turnRequest = {
      ...request,
      plan: isFirst ? request.plan : { ...request.plan, attempts: sameModel(admitted, settings) },
      // The conversation is that of the endpoint which is asked: each lacks other tools.
      promptFor: (planned: PlannedAttempt) => conversation(offered.promptFor(planned), appended, { isFirst, isFinal }),
    }
    if (isFinal) hold?.useReserve()
    const error = await runJudged({ request: turnRequest, connection, log, hold, judge: admitted.judge }, parts, deliver)
    report.turns += 1
    if (error !== null) {
      if (!isFirst && !forgot && hold?.ranDry === true && !connection.stopped) {
        // What a budget cannot bear is not begun; the reserve pays for an end without it.
        report.stoppedBy = 'budget'
        forgetResults(appended)
        forgot = true
        continue
      }
      report.stoppedBy = connection.stopped ? 'cancelled' : 'error'
      return error
    }
    report.said(turn)
    // The last turn calls nothing.
    const { frames, refusals } =
      isFinal || offered.deferred === undefined
        ? NO_CALLS_UNWRAPPED
        : unwrapCalls(turn, offered.deferred, report, (warning) => log.warn(warning))
    const passedOn = frames.length === 0 ? undefined : take(frames)
    if (passedOn !== undefined) await passedOn
    const stop = isFinal ? report.stoppedBy : turn.serverCalls.length === 0 ? (turn.clientCalls > 0 ? 'client_tool' : 'model') : null
    if (stop !== null) {
      report.stoppedBy = stop
      if (isFinal && turn.serverCalls.length > 0) log.warn(AFTER_LIMIT)
      return await end(turn, take)
    }

    const controller = connection.open()
    const cancel = parts.clock.after(Math.max(0, deadlineMs - parts.clock.monotonicMs()), () =>
      controller.abort(new Error('No time is left.')),
    )
    let ended: readonly EndedCall[]
    let isBroke = false
    const before = report.steps
    try {
      const within = turn.serverCalls.slice(0, Math.max(0, limits.steps - before))
      const paid = within.reduce((sum, { name }) => sum + mostFee(offered, name), 0)
      isBroke = !(await admitted.canPay(paid))
      const planned = log.current?.planned
      ended = await runCalls(
        {
          number: report.turns,
          calls: turn.serverCalls,
          refusalOf: ({ name }, index) => {
            if (before + index >= limits.steps) return LIMIT_REACHED
            return isBroke && mostFee(offered, name) > 0 ? BUDGET_SPENT : null
          },
          offered,
          refusals,
          model: planned?.model.id ?? request.requested,
          ask,
          prompt: planned === undefined ? request.call.prompt() : conversation(offered.promptFor(planned), appended, { isFirst, isFinal }),
          dialect: request.call.dialect,
          signal: controller.signal,
        },
        {
          ids: parts.ids,
          parallel: settings.loop.parallel,
          resultBytes: settings.result_bytes,
          screen,
          seal: (text) => parts.sealedResults.seal(request.caller.workspaceId, text),
          now: () => parts.clock.monotonicMs(),
          take,
        },
      )
    } finally {
      cancel()
    }
    for (const one of ended) report.ran(one)
    admitted.charge(ended.reduce((sum, { feeNanos }) => sum + feeNanos, 0))
    if (connection.stopped) {
      report.stoppedBy = 'cancelled'
      return connection.stopReason
    }
    appended.push({ role: 'assistant', parts: turn.parts() }, { role: 'user', parts: resultParts(ended) })
    if (turn.clientCalls > 0 || ended.some(({ endsTurn }) => endsTurn)) {
      report.stoppedBy = 'client_tool'
      return await end(turn, take)
    }
    malformed = ended.every(({ outcome }) => MALFORMED.has(outcome.fault?.code ?? null)) ? malformed + 1 : 0
    report.stoppedBy = stopAfter(turn, admitted, report, limits, {
      malformed,
      isLate: parts.isDraining() || parts.clock.monotonicMs() >= deadlineMs,
      isBroke,
    })
    admitted.nextTurn()
  }
}

const MALFORMED: ReadonlySet<ServerToolFault | null> = new Set(['invalid_tool_input', 'unknown_tool'] as const)

/** The first choice of tools is the client's; behind a result it is the model's, or the loop would never end. The last turn calls none. */
const conversation = (
  prompt: Prompt,
  appended: readonly Message[],
  { isFirst, isFinal }: { readonly isFirst: boolean; readonly isFinal: boolean },
): Prompt => ({
  ...prompt,
  messages: [...prompt.messages, ...appended],
  toolChoice: isFinal
    ? { type: 'none' }
    : isFirst
      ? prompt.toolChoice
      : prompt.toolChoice.type === 'none'
        ? prompt.toolChoice
        : { type: 'auto' },
})

/** The endpoint that answered before, then others of its model: nothing of the new turn was said yet. */
const sameModel = ({ log, request }: Admitted, { loop }: ToolSettings): readonly PlannedAttempt[] => {
  const before = log.current?.planned
  if (before === undefined) return request.plan.attempts
  const others = request.plan.attempts.filter((planned) => planned !== before && planned.model.id === before.model.id)
  return loop.failover === 'never' ? [before] : [before, ...others]
}

const NO_CALLS_UNWRAPPED: UnwrappedCalls = { frames: [], refusals: new Map() }

const LIMIT_REACHED = { code: 'max_uses_exceeded', message: 'The limit of tool calls is reached. Answer with what is known.' } as const

const BUDGET_SPENT = {
  code: 'unavailable',
  message: 'The budget of this request does not bear this call. Answer with what is known.',
} as const

const mostFee = ({ byName }: OfferedTools, name: string): number => byName.get(name)?.tool.mostFeeNanos ?? 0

const AFTER_LIMIT = {
  code: 'tool_call_after_limit',
  field: 'tools',
  message: 'The model called a tool in its last turn; the call was left out.',
} as const

/** Results that were too dear to send: the model is told that they are missing. */
const forgetResults = (appended: Message[]): void => {
  const last = appended.at(-1)
  if (last === undefined) return
  const note = JSON.stringify({ error: 'budget_exhausted', message: 'The budget of this request is used up. Answer with what is known.' })
  appended[appended.length - 1] = {
    ...last,
    parts: last.parts.map((part) => (part.type === 'tool-result' ? { ...part, text: note, isError: true } : part)),
  }
}

/** Texts of different turns are texts of their own. */
const breakingText =
  (turn: ModelTurn, report: LoopReport, take: TakeFrames): TakeFrames =>
  (frames) => {
    const passed = turn.take(frames)
    if (passed.length === 0) return undefined
    const says = passed.some(({ events }) => events.some(({ type }) => type === 'text'))
    if (!says || !report.saidText || report.brokeText) return take(passed)
    report.brokeText = true
    return take([{ events: [{ type: 'text-break' }] }, ...passed])
  }

const end = async (turn: ModelTurn, take: TakeFrames): Promise<null> => {
  const reason = turn.clientCalls > 0 ? 'tool_calls' : turn.finish?.reason === 'tool_calls' ? 'stop' : (turn.finish?.reason ?? 'stop')
  const behind = take([{ events: [{ type: 'finish', reason, native: turn.finish?.native ?? null }] }])
  if (behind !== undefined) await behind
  return null
}
