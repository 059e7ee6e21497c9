import type { Message, Prompt } from '../../canonical/prompt.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { Admitted } from '../admitted.ts'
import { dialectOf } from '../run/dialect-of.ts'
import { conversationOfTurn, forgetResults, withoutOpenCalls } from './conversation-of-turn.ts'
import type { LoopReport } from './loop-report.ts'
import type { ModelTurn } from './model-turn.ts'
import type { OfferedTools } from './offered-tool.ts'
import { type EndedCall, resultParts } from './run-calls.ts'
import { withResults } from './waiting-agents.ts'

/** The conversation of a tool loop: the client's, and after it the turns of the model with the results of its tools. */
export class LoopConversation {
  readonly #admitted: Admitted
  readonly #offered: OfferedTools
  readonly #report: Pick<LoopReport, 'turns' | 'stoppedBy'>
  readonly #appended: Message[] = []
  /** Agents of an earlier answer that have now finished, by the ids of their calls. */
  readonly #resumed = new Map<string, EndedCall>()
  #forgot = false

  constructor(admitted: Admitted, offered: OfferedTools, report: Pick<LoopReport, 'turns' | 'stoppedBy'>) {
    this.#admitted = admitted
    this.#offered = offered
    this.#report = report
  }

  get isFirst(): boolean {
    return this.#report.turns === 0
  }

  /** True if something ended the loop or the client allows no calls: this turn must answer and may call nothing. */
  get isFinal(): boolean {
    return this.#report.stoppedBy !== null || this.#admitted.request.call.prompt().toolChoice.type === 'none'
  }

  /** The endpoint that is being asked, or was asked last. */
  get planned(): PlannedAttempt | undefined {
    const { log, request } = this.#admitted
    return log.current?.planned ?? request.plan.attempts[0]
  }

  /** The conversation depends on the endpoint, since each endpoint lacks different tools. */
  promptFor(): (planned: PlannedAttempt) => Prompt {
    const place = { isFirst: this.isFirst, isFinal: this.isFinal }
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

  add(turn: ModelTurn, ended: readonly EndedCall[]): void {
    this.#appended.push(messageOf(turn, this.planned))
    if (ended.length > 0) this.#appended.push({ role: 'user', parts: resultParts(ended) })
  }

  /** Puts the results of agents in the places that their calls left open. */
  resume(ended: readonly EndedCall[]): void {
    for (const one of ended) this.#resumed.set(one.call.callId, one)
  }

  /** Leaves out the last results, since sending them would cost too much. Returns false if that was done before. */
  forgetResults(): boolean {
    if (this.#forgot) return false
    this.#forgot = true
    forgetResults(this.#appended)
    return true
  }

  /** True for a tool that does not exist: its call is answered here. If a vendor's own tools are offered, any name may be one of theirs. */
  isMadeUp(name: string): boolean {
    const planned = this.planned
    if (planned === undefined) return false
    const { tools } = this.#offered.promptFor(planned)
    if (tools.some(({ type }) => type === 'provider')) return false
    return [...tools, ...this.#admitted.request.call.prompt().tools].every((tool) => tool.type === 'provider' || tool.name !== name)
  }
}

const messageOf = (turn: ModelTurn, planned: PlannedAttempt | undefined): Message => {
  const said: Message = { role: 'assistant', parts: turn.parts() }
  const blocks = turn.finish?.own
  if (blocks === undefined || planned === undefined) return said
  return { ...said, own: { provider: planned.endpoint.provider.slug, modelId: planned.model.id, blocks } }
}
