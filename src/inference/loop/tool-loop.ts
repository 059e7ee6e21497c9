/**
 * An answer that takes several turns of a model: it calls tools that the service runs, reads their results and continues, until it answers
 * or a limit ends the loop. The client sees one answer (docs/contract/tools.md#server-tools).
 */
import type { FinishReason, Frame, TakeFrames } from '../../canonical/event.ts'
import type { Call } from '../../canonical/call.ts'
import type { ServerToolFault } from '../../canonical/server-tools.ts'
import type { GatewayError } from '../../errors.ts'
import { objectsIn, textsIn } from '../../lib/json/json.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { ToolSettings } from '../../tools/settings.ts'
import type { Admitted } from '../admitted.ts'
import { runJudged } from '../judge/run-judged.ts'
import { LoopConversation } from './loop-conversation.ts'
import { type LoopLimits, loopLimits, stopAfter } from './loop-limits.ts'
import type { LoopParts } from './loop-parts.ts'
import { LoopReport } from './loop-report.ts'
import { LoopTools } from './loop-tools.ts'
import { placingText } from './place-text.ts'
import { readModelTurn, type ModelTurn } from './model-turn.ts'
import type { OfferedTools } from './offered-tool.ts'
import type { EndedCall } from './run-calls.ts'
import { unwrapCalls, type UnwrappedCalls } from './unwrap-calls.ts'
import { callsOfAgents, waitingCalls } from './waiting-agents.ts'

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
  readonly #conversation: LoopConversation
  readonly #tools: LoopTools
  #pauses = 0
  /** The number of turns in a row in which no call could be read. */
  #malformed = 0

  constructor(admitted: Admitted, offered: OfferedTools, parts: LoopParts, take: TakeFrames) {
    this.#admitted = admitted
    this.#offered = offered
    this.#parts = parts
    this.#take = take
    this.#settings = parts.toolSettings()
    this.#limits = loopLimits(admitted.request.call, this.#settings)
    this.#call = { ...admitted.request.call, replays: true }
    this.#conversation = new LoopConversation(admitted, offered, this.#report)
    this.#tools = new LoopTools(
      { admitted, offered, settings: this.#settings, limits: this.#limits, report: this.#report, conversation: this.#conversation },
      parts,
      take,
    )
    admitted.loop = this.#report
  }

  async answer(): Promise<GatewayError | null> {
    try {
      return await this.#turns()
    } finally {
      this.#tools.end()
    }
  }

  async #turns(): Promise<GatewayError | null> {
    const { connection } = this.#admitted
    if (await this.#resumeAgents()) return connection.stopReason
    for (;;) {
      const isFinal = this.#conversation.isFinal
      const turn = readModelTurn(
        (name) => isFinal || this.#offered.byName.has(name) || this.#conversation.isMadeUp(name),
        this.#conversation.isFirst,
      )
      const error = await this.#ask(turn)
      if (error !== null) {
        if (this.#endsOnReserve()) continue
        this.#report.stoppedBy = connection.stopped ? 'cancelled' : 'error'
        return error
      }
      this.#report.said(turn)
      const { frames, refusals } = this.#unwrap(turn)
      const hasCalls = !isFinal && !isWithheld(turn) && turn.serverCalls.length > 0
      // The client may have left a turn whose rest was read for its usage alone.
      const ended = hasCalls && !connection.stopped ? await this.#tools.run(turn.serverCalls, refusals, turn.clientCalls > 0) : []
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
    return (
      finish?.native === 'pause_turn' &&
      finish.own !== undefined &&
      clientCalls === 0 &&
      !this.#conversation.isFinal &&
      this.#pauses < PAUSES_MAX
    )
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
    const ended = await this.#tools.run(waiting, NONE_WITHHELD.refusals, false)
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
    this.#conversation.resume(ended)
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

  /** Runs one turn of the model and sends the client its part of the output. */
  async #ask(turn: ModelTurn): Promise<GatewayError | null> {
    const { request, connection, log, hold, judge } = this.#admitted
    const isFirst = this.#conversation.isFirst
    const turnRequest = {
      ...request,
      call: this.#call,
      plan: isFirst ? request.plan : { ...request.plan, attempts: sameModel(this.#admitted, this.#settings) },
      promptFor: this.#conversation.promptFor(),
    }
    if (this.#conversation.isFinal) hold?.useReserve()
    const deliver = placingText(turn, this.#report, this.#take)
    const error = await runJudged({ request: turnRequest, connection, log, hold, judge }, this.#parts, deliver)
    this.#report.turns += 1
    return error
  }

  /** A turn that a budget cannot pay for is not begun; the reserve pays for a last turn without the newest results. */
  #endsOnReserve(): boolean {
    const { hold, connection } = this.#admitted
    if (this.#report.turns <= 1 || hold?.ranDry !== true || connection.stopped) return false
    if (!this.#conversation.forgetResults()) return false
    this.#report.stoppedBy = 'budget'
    return true
  }

  /** Turns calls of withheld tools into calls of the client's own functions; invalid ones are refused to the model. */
  #unwrap(turn: ModelTurn): UnwrappedCalls {
    if (this.#conversation.isFinal || this.#offered.deferred === undefined) return NONE_WITHHELD
    return unwrapCalls(turn, this.#offered.deferred, this.#report, (warning) => this.#admitted.log.warn(warning))
  }

  async #deliver(frames: readonly Frame[]): Promise<void> {
    const behind = frames.length === 0 ? undefined : this.#take(frames)
    if (behind !== undefined) await behind
  }

  /** Sends the turn back to the model with its results, for the next turn or the last. */
  #goOn(turn: ModelTurn, ended: readonly EndedCall[]): void {
    this.#conversation.add(turn, ended)
    if (ended.length > 0) {
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
    return stopAfter(turn?.finish ?? null, this.#limits, {
      admitted: this.#admitted,
      report: this.#report,
      malformed: this.#malformed,
      isLate: this.#tools.isLate,
      isBroke: this.#tools.isBroke,
    })
  }

  async #end(turn: ModelTurn): Promise<null> {
    const leavesOut = isWithheld(turn) || (this.#conversation.isFinal && this.#report.stoppedBy !== 'client_tool')
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

const AFTER_LIMIT = {
  code: 'tool_call_after_limit',
  field: 'tools',
  message: 'The model called a tool in its last turn; the call was left out.',
} as const
