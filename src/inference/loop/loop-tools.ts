import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { TakeFrames } from '../../canonical/event.ts'
import type { AskModel } from '../../tools/ask.ts'
import type { ToolSettings } from '../../tools/settings.ts'
import type { AskedTool } from '../../tools/tool.ts'
import type { Admitted } from '../admitted.ts'
import type { LoopConversation } from './loop-conversation.ts'
import type { LoopLimits } from './loop-limits.ts'
import type { LoopReport } from './loop-report.ts'
import type { ModelCall } from './model-turn.ts'
import type { OfferedTools } from './offered-tool.ts'
import { type EndedCall, runCalls } from './run-calls.ts'
import { screenToolText } from './screen-tool-text.ts'
import type { LoopParts } from './loop-parts.ts'
import type { UnwrappedCalls } from './unwrap-calls.ts'

interface Loop {
  readonly admitted: Admitted
  readonly offered: OfferedTools
  readonly settings: ToolSettings
  readonly limits: LoopLimits
  readonly report: LoopReport
  readonly conversation: LoopConversation
}

/** Runs the tools that a model calls, within the time, the number of calls and the money of one loop. */
export class LoopTools {
  readonly #loop: Loop
  readonly #parts: LoopParts
  readonly #take: TakeFrames
  readonly #deadlineMs: number
  readonly #askModel: AskModel
  readonly #screen: (text: string) => Promise<string | null>
  /** True if tools were stopped for lack of time; needed because a timer may fire a moment before the clock reaches the deadline. */
  #stopped = false
  #isBroke = false
  readonly #ends: (() => Promise<void>)[] = []

  constructor(loop: Loop, parts: LoopParts, take: TakeFrames) {
    this.#loop = loop
    this.#parts = parts
    this.#take = take
    this.#deadlineMs = parts.clock.monotonicMs() + loop.settings.loop.seconds * 1000
    this.#askModel = parts.askModel(loop.admitted)
    this.#screen = screenToolText(loop.admitted.request, parts)
  }

  /** True if no time is left for further calls. */
  get isLate(): boolean {
    return this.#stopped || this.#parts.isDraining() || this.#parts.clock.monotonicMs() >= this.#deadlineMs
  }

  /** True if the budgets could not pay for the last calls. */
  get isBroke(): boolean {
    return this.#isBroke
  }

  async run(calls: readonly ModelCall[], refusals: UnwrappedCalls['refusals'], besideCalls: boolean): Promise<readonly EndedCall[]> {
    const { admitted, offered, settings, limits, report, conversation } = this.#loop
    const { request, connection } = admitted
    const { clock, ids, sealedResults, toolsEnd } = this.#parts
    const before = report.steps
    const controller = connection.open()
    const endTools = (): void => {
      this.#stopped = true
      controller.abort(new Error('No time is left.'))
    }
    const cancel = clock.after(Math.max(0, this.#deadlineMs - clock.monotonicMs()), endTools)
    toolsEnd.addEventListener('abort', endTools)
    if (toolsEnd.aborted) endTools()
    try {
      const within = calls.slice(0, Math.max(0, limits.steps - before))
      this.#isBroke = !(await admitted.canPay(within.reduce((sum, { name }) => sum + mostFee(offered, name), 0)))
      const planned = conversation.planned
      const ended = await runCalls(
        {
          number: report.turns,
          besideCalls,
          calls,
          refusalOf: ({ name }, index) => {
            if (before + index >= limits.steps) return LIMIT_REACHED
            return this.#isBroke && mostFee(offered, name) > 0 ? BUDGET_SPENT : null
          },
          offered,
          refusals,
          model: planned?.model.id ?? request.requested,
          ask: this.#askModel,
          prompt: planned === undefined ? request.call.prompt() : conversation.promptFor()(planned),
          dialect: request.call.dialect,
          reportsProgress: this.#reportsProgress,
          signal: controller.signal,
          atEnd: (end) => void this.#ends.push(end),
        },
        {
          ids,
          parallel: settings.loop.parallel,
          resultBytes: settings.result_bytes,
          screen: this.#screen,
          screens: (request.guardrails?.input ?? null) !== null,
          seal: (text) => sealedResults.seal(request.caller.workspaceId, text),
          now: () => clock.monotonicMs(),
          charge: (feeNanos) => admitted.charge(feeNanos),
          take: this.#take,
          onFault: this.#parts.onFault,
        },
      )
      for (const one of ended) report.ran(one)
      return ended
    } finally {
      cancel()
      toolsEnd.removeEventListener('abort', endTools)
    }
  }

  /** Only streams of Responses have events for progress, and strict clients fail on events that they did not ask for. */
  readonly #reportsProgress = ({ parameters }: AskedTool): boolean => {
    const { dialect, stream, body } = this.#loop.admitted.request.call
    if (dialect !== 'responses' || !stream) return false
    const include = body.value('include')
    return (
      parameters['stream'] === true ||
      (Array.isArray(include) && include.some((name) => typeof name === 'string' && serverToolName(name) === 'progress'))
    )
  }

  /** Removes the objects that tools created for this request alone; the answer does not wait for that. */
  end(): void {
    for (const end of this.#ends) void end()
  }
}

const LIMIT_REACHED = { code: 'max_uses_exceeded', message: 'The limit of tool calls is reached. Answer with what is known.' } as const

const BUDGET_SPENT = {
  code: 'unavailable',
  message: 'The budget of this request does not bear this call. Answer with what is known.',
} as const

const mostFee = ({ byName }: OfferedTools, name: string): number => byName.get(name)?.tool.mostFeeNanos ?? 0
