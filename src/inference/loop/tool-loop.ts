/**
 * An answer that takes several turns of a model: it calls tools that the service runs, reads their results and continues, until it answers
 * or a limit ends the loop. The client sees one answer (docs/contract/tools.md#server-tools).
 */
import type { FinishReason, Frame, TakeFrames } from '../../canonical/event.ts'
import type { Call } from '../../canonical/call.ts'
import type { Message, Prompt } from '../../canonical/prompt.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { ServerToolFault } from '../../canonical/server-tools.ts'
import type { GatewayError } from '../../errors.ts'
import type { ScreenLimits } from '../../guardrails/screen-request.ts'
import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import { objectsIn, textsIn } from '../../lib/json/json.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { AskModel } from '../../tools/ask.ts'
import type { SealedResults } from '../../tools/sealed-results.ts'
import type { ToolSettings } from '../../tools/settings.ts'
import type { AskedTool } from '../../tools/tool.ts'
import type { Admitted } from '../admitted.ts'
import { runJudged } from '../judge/run-judged.ts'
import { dialectOf } from '../run/dialect-of.ts'
import type { RunParts } from '../run/run.ts'
import { type LoopLimits, loopLimits, stopAfter } from './loop-limits.ts'
import { LoopReport } from './loop-report.ts'
import { placingText } from './place-text.ts'
import { readModelTurn, type ModelTurn, type ModelCall } from './model-turn.ts'
import { type EndedCall, resultParts, runCalls } from './run-calls.ts'
import { conversationOfTurn, forgetResults, withoutOpenCalls } from './conversation-of-turn.ts'
import { screenToolText } from './screen-tool-text.ts'
import { unwrapCalls, type UnwrappedCalls } from './unwrap-calls.ts'
import type { OfferedTools } from './offered-tool.ts'
import { callsOfAgents, waitingCalls, withResults } from './waiting-agents.ts'

export interface LoopParts extends RunParts, Omit<ScreenLimits, 'clock'> {
  readonly clock: Clock
  readonly ids: IdSource
  /** Reads the settings as the configuration has them now. */
  readonly toolSettings: () => ToolSettings
  readonly sealedResults: SealedResults
  /** True if the process is about to end; loops then finish their answers without further calls. */
  readonly isDraining: () => boolean
  /** Aborted when the process has no time left for tools. */
  readonly toolsEnd: AbortSignal
  /** Called with faults of our own that do not end the answer. */
  readonly onFault: (thrown: unknown, doing: string) => void
  /** For tools that ask a model within this request. */
  readonly askModel: (outer: Admitted) => AskModel
}

/** The same as `run`, for a request with tools of the service's. */
export const answerWithTools = (
  admitted: Admitted,
  offered: OfferedTools,
  parts: LoopParts,
  take: TakeFrames,
): Promise<GatewayError | null> => new ToolLoop(admitted, offered, parts, take).answer()

class ToolLoop {
  readonly #admitted: Admitted
  readonly #offered: OfferedTools
  readonly #parts: LoopParts
  readonly #take: TakeFrames
  readonly #settings: ToolSettings
  readonly #limits: LoopLimits
  readonly #call: Call
  readonly #report = new LoopReport()
  readonly #deadlineMs: number
  readonly #askModel: AskModel
  readonly #screen: (text: string) => Promise<string | null>
  /** The model's turns and the results of its tools, appended to the client's conversation. */
  readonly #appended: Message[] = []
  #pauses = 0
  /** The number of turns in a row in which no call could be read. */
  #malformed = 0
  /** True if the last results were left out because sending them would cost too much. */
  #forgot = false
  #isBroke = false
  /** True if tools were stopped for lack of time; needed because a timer may fire a moment before the clock reaches the deadline. */
  #isLate = false
  readonly #ends: (() => Promise<void>)[] = []
  /** Agents of an earlier answer that have now finished, by the ids of their calls. */
  readonly #resumed = new Map<string, EndedCall>()

  constructor(admitted: Admitted, offered: OfferedTools, parts: LoopParts, take: TakeFrames) {
    this.#admitted = admitted
    this.#offered = offered
    this.#parts = parts
    this.#take = take
    this.#settings = parts.toolSettings()
    this.#call = { ...admitted.request.call, replays: true }
    this.#limits = loopLimits(admitted.request.call, this.#settings)
    this.#deadlineMs = parts.clock.monotonicMs() + this.#settings.loop.seconds * 1000
    this.#askModel = parts.askModel(admitted)
    this.#screen = screenToolText(admitted.request, parts)
    admitted.loop = this.#report
  }

  async answer(): Promise<GatewayError | null> {
    try {
      return await this.#turns()
    } finally {
      // Objects that tools created for this request alone are removed now; the answer does not wait for that.
      for (const end of this.#ends) void end()
    }
  }

  async #turns(): Promise<GatewayError | null> {
    const { connection } = this.#admitted
    if (await this.#resumeAgents()) return connection.stopReason
    for (;;) {
      const isFinal = this.#isFinal
      const turn = readModelTurn((name) => isFinal || this.#offered.byName.has(name) || this.#isMadeUp(name), this.#isFirst)
      const error = await this.#ask(turn)
      if (error !== null) {
        if (this.#endsOnReserve()) continue
        this.#report.stoppedBy = connection.stopped ? 'cancelled' : 'error'
        return error
      }
      this.#report.said(turn)
      const { frames, refusals } = this.#unwrap(turn)
      const hasCalls = !isFinal && !isWithheld(turn) && turn.serverCalls.length > 0
      const ended = hasCalls ? await this.#runTools(turn.serverCalls, refusals, turn.clientCalls > 0) : []
      await this.#deliver([...turn.held, ...frames])
      if (!hasCalls && !this.#isPaused(turn)) return this.#end(turn)
      await this.#passOnCalls(ended, turn)
      if (connection.stopped) {
        this.#report.stoppedBy = 'cancelled'
        return connection.stopReason
      }
      if (turn.clientCalls > 0 || ended.some(({ endsTurn }) => endsTurn)) {
        this.#report.stoppedBy = 'client_tool'
        return this.#end(turn)
      }
      this.#goOn(turn, ended)
    }
  }

  /** True if the provider paused its turn to work with its own tools; it continues when it gets the turn back. */
  #isPaused({ finish, clientCalls }: ModelTurn): boolean {
    return finish?.native === 'pause_turn' && finish.own !== undefined && clientCalls === 0 && !this.#isFinal && this.#pauses < PAUSES_MAX
  }

  /** True for a tool that does not exist: its call is answered here. If a vendor's own tools are offered, any name may be one of theirs. */
  #isMadeUp(name: string): boolean {
    const planned = this.#planned
    if (planned === undefined) return false
    const { tools } = this.#offered.promptFor(planned)
    if (tools.some(({ type }) => type === 'provider')) return false
    return [...tools, ...this.#admitted.request.call.prompt().tools].every((tool) => tool.type === 'provider' || tool.name !== name)
  }

  /** The endpoint that is being asked, or was asked last. */
  get #planned(): PlannedAttempt | undefined {
    const { log, request } = this.#admitted
    return log.current?.planned ?? request.plan.attempts[0]
  }

  /**
   * Agents that waited for the client continue before the model does. Returns true if the answer ends here, because an agent waits again or
   * the run was stopped.
   */
  async #resumeAgents(): Promise<boolean> {
    const { request, connection } = this.#admitted
    const [first] = request.plan.attempts
    const waiting = first === undefined ? [] : waitingCalls(this.#offered.promptFor(first).messages, this.#isAgent)
    if (waiting.length === 0) return false
    const ended = await this.#runTools(waiting, NONE_WITHHELD.refusals, false)
    let clientCalls = 0
    const makeRoom = (calls: number): number => {
      clientCalls += calls
      return clientCalls - calls
    }
    await this.#passOnCalls(ended, { makeRoom, parts: () => [] })
    if (connection.stopped) {
      this.#report.stoppedBy = 'cancelled'
      return true
    }
    if (clientCalls > 0) {
      this.#report.stoppedBy = 'client_tool'
      await this.#finish('tool_calls', null)
      return true
    }
    for (const one of ended) this.#resumed.set(one.call.callId, one)
    this.#report.stoppedBy = this.#stopAfter(null)
    return false
  }

  readonly #isAgent = (name: string): boolean => this.#offered.byName.get(name)?.asked.tool === 'subagent'

  /** Passes on calls of the client's functions that agents made; they end the turn. */
  async #passOnCalls(ended: readonly EndedCall[], turn: Pick<ModelTurn, 'makeRoom' | 'parts'>): Promise<void> {
    if (!ended.some(({ waitsFor }) => waitsFor !== undefined)) return
    const taken = new Set([
      ...callIds(this.#admitted.request.call),
      ...turn.parts().flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])),
    ])
    await this.#deliver(callsOfAgents(ended, taken, turn.makeRoom, this.#parts.ids))
  }

  get #isFirst(): boolean {
    return this.#report.turns === 0
  }

  /** True if something ended the loop or the client allows no calls: this turn must answer and may call nothing. */
  get #isFinal(): boolean {
    return this.#report.stoppedBy !== null || this.#admitted.request.call.prompt().toolChoice.type === 'none'
  }

  /** Runs one turn of the model and sends the client its part of the output. */
  async #ask(turn: ModelTurn): Promise<GatewayError | null> {
    const { request, connection, log, hold, judge } = this.#admitted
    const isFirst = this.#isFirst
    const turnRequest = {
      ...request,
      call: this.#call,
      plan: isFirst ? request.plan : { ...request.plan, attempts: sameModel(this.#admitted, this.#settings) },
      promptFor: this.#promptFor(),
    }
    if (this.#isFinal) hold?.useReserve()
    const deliver = placingText(turn, this.#report, this.#take)
    const error = await runJudged({ request: turnRequest, connection, log, hold, judge }, this.#parts, deliver)
    this.#report.turns += 1
    return error
  }

  /** The conversation depends on the endpoint, since each endpoint lacks different tools. */
  #promptFor(): (planned: PlannedAttempt) => Prompt {
    const place = { isFirst: this.#isFirst, isFinal: this.#isFinal }
    return (planned) => {
      const prompt = this.#offered.promptFor(planned)
      const { messages } = prompt
      return conversationOfTurn(
        {
          ...prompt,
          messages: [...withResults(messages, this.#resumed), ...(place.isFinal ? withoutOpenCalls(this.#appended) : this.#appended)],
        },
        place,
        dialectOf(planned, this.#admitted.request.call),
      )
    }
  }

  /** A turn that a budget cannot pay for is not begun; the reserve pays for a last turn without the newest results. */
  #endsOnReserve(): boolean {
    const { hold, connection } = this.#admitted
    if (this.#report.turns <= 1 || this.#forgot || hold?.ranDry !== true || connection.stopped) return false
    this.#report.stoppedBy = 'budget'
    this.#forgot = true
    forgetResults(this.#appended)
    return true
  }

  /** Turns calls of withheld tools into calls of the client's own functions; invalid ones are refused to the model. */
  #unwrap(turn: ModelTurn): UnwrappedCalls {
    if (this.#isFinal || this.#offered.deferred === undefined) return NONE_WITHHELD
    return unwrapCalls(turn, this.#offered.deferred, this.#report, (warning) => this.#admitted.log.warn(warning))
  }

  async #deliver(frames: readonly Frame[]): Promise<void> {
    const behind = frames.length === 0 ? undefined : this.#take(frames)
    if (behind !== undefined) await behind
  }

  /** Only streams of Responses have events for progress, and strict clients fail on events that they did not ask for. */
  readonly #reportsProgress = ({ parameters }: AskedTool): boolean => {
    const { dialect, stream, body } = this.#admitted.request.call
    if (dialect !== 'responses' || !stream) return false
    const include = body.value('include')
    return (
      parameters['stream'] === true ||
      (Array.isArray(include) && include.some((name) => typeof name === 'string' && serverToolName(name) === 'progress'))
    )
  }

  async #runTools(calls: readonly ModelCall[], refusals: UnwrappedCalls['refusals'], besideCalls: boolean): Promise<readonly EndedCall[]> {
    const { request, connection } = this.#admitted
    const { clock, ids, sealedResults, toolsEnd } = this.#parts
    const before = this.#report.steps
    const controller = connection.open()
    const endTools = (): void => {
      this.#isLate = true
      controller.abort(new Error('No time is left.'))
    }
    const cancel = clock.after(Math.max(0, this.#deadlineMs - clock.monotonicMs()), endTools)
    toolsEnd.addEventListener('abort', endTools)
    if (toolsEnd.aborted) endTools()
    try {
      const within = calls.slice(0, Math.max(0, this.#limits.steps - before))
      this.#isBroke = !(await this.#admitted.canPay(within.reduce((sum, { name }) => sum + mostFee(this.#offered, name), 0)))
      const planned = this.#planned
      const ended = await runCalls(
        {
          number: this.#report.turns,
          besideCalls,
          calls,
          refusalOf: ({ name }, index) => {
            if (before + index >= this.#limits.steps) return LIMIT_REACHED
            return this.#isBroke && mostFee(this.#offered, name) > 0 ? BUDGET_SPENT : null
          },
          offered: this.#offered,
          refusals,
          model: planned?.model.id ?? request.requested,
          ask: this.#askModel,
          prompt: planned === undefined ? request.call.prompt() : this.#promptFor()(planned),
          dialect: request.call.dialect,
          reportsProgress: this.#reportsProgress,
          signal: controller.signal,
          atEnd: (end) => void this.#ends.push(end),
        },
        {
          ids,
          parallel: this.#settings.loop.parallel,
          resultBytes: this.#settings.result_bytes,
          screen: this.#screen,
          screens: (request.guardrails?.input ?? null) !== null,
          seal: (text) => sealedResults.seal(request.caller.workspaceId, text),
          now: () => clock.monotonicMs(),
          charge: (feeNanos) => this.#admitted.charge(feeNanos),
          take: this.#take,
          onFault: this.#parts.onFault,
        },
      )
      for (const one of ended) this.#report.ran(one)
      return ended
    } finally {
      cancel()
      toolsEnd.removeEventListener('abort', endTools)
    }
  }

  /** Sends the turn back to the model with its results, for the next turn or the last. */
  #goOn(turn: ModelTurn, ended: readonly EndedCall[]): void {
    this.#appended.push(messageOf(turn, this.#planned))
    if (ended.length > 0) {
      this.#appended.push({ role: 'user', parts: resultParts(ended) })
      this.#malformed = ended.every(({ outcome }) => MALFORMED.has(outcome.fault?.code ?? null)) ? this.#malformed + 1 : 0
    } else {
      this.#pauses += 1
      // The paused turn continues, so its text gets no break.
      this.#report.brokeText = true
    }
    this.#report.stoppedBy = this.#stopAfter(turn)
    this.#admitted.nextTurn()
  }

  #stopAfter(turn: ModelTurn | null): LoopReport['stoppedBy'] {
    const { clock, isDraining } = this.#parts
    return stopAfter(turn?.finish ?? null, this.#admitted, this.#report, this.#limits, {
      malformed: this.#malformed,
      isLate: this.#isLate || isDraining() || clock.monotonicMs() >= this.#deadlineMs,
      isBroke: this.#isBroke,
    })
  }

  async #end(turn: ModelTurn): Promise<null> {
    const leavesOut = isWithheld(turn) || (this.#isFinal && this.#report.stoppedBy !== 'client_tool')
    if (leavesOut && turn.serverCalls.length > 0) this.#admitted.log.lose(AFTER_LIMIT)
    this.#report.stoppedBy ??= turn.clientCalls > 0 ? 'client_tool' : 'model'
    await this.#finish(reasonOf(turn), turn.finish?.native ?? null)
    return null
  }

  async #finish(reason: FinishReason, native: string | null): Promise<void> {
    const frames: readonly Frame[] = [{ events: [{ type: 'finish', reason, native }] }]
    // The record says what the client is told, which the provider of the turn may not have said.
    this.#admitted.log.observe(frames)
    await this.#deliver(frames)
  }
}

/** The provider withheld the rest of the turn: its calls may be cut off, and the model is not to go on. */
const isWithheld = ({ finish }: ModelTurn): boolean => finish?.reason === 'content_filter'

const reasonOf = (turn: ModelTurn): FinishReason => {
  if (turn.clientCalls > 0 && !isWithheld(turn)) return 'tool_calls'
  const said = turn.finish?.reason ?? 'stop'
  return said === 'tool_calls' ? 'stop' : said
}

/** The maximum number of times that an answer continues after its provider paused it. */
const PAUSES_MAX = 8

const messageOf = (turn: ModelTurn, planned: PlannedAttempt | undefined): Message => {
  const said: Message = { role: 'assistant', parts: turn.parts() }
  const blocks = turn.finish?.own
  if (blocks === undefined || planned === undefined) return said
  return { ...said, own: { provider: planned.endpoint.provider.slug, modelId: planned.model.id, blocks } }
}

const MALFORMED: ReadonlySet<ServerToolFault | null> = new Set(['invalid_tool_input', 'unknown_tool'] as const)

/**
 * The endpoint that answered before, then others of the same model: these may still take over, since nothing of the new turn has been sent.
 */
const sameModel = ({ log, request }: Admitted, { loop }: ToolSettings): readonly PlannedAttempt[] => {
  const before = log.current?.planned
  if (before === undefined) return request.plan.attempts
  const others = request.plan.attempts.filter((planned) => planned !== before && planned.model.id === before.model.id)
  return loop.failover === 'never' ? [before] : [before, ...others]
}

/** The ids under which a client of Responses knows its calls. */
const callIds = ({ body }: Call): readonly string[] => textsIn(objectsIn(body.value('input')).map(({ call_id: id }) => id))

const NONE_WITHHELD: UnwrappedCalls = { frames: [], refusals: new Map() }

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
