/**
 * An inference within another one: a tool or a plugin asks a model on behalf of the request's caller. It takes the same steps as any
 * request (prepare → screen → plan → run), except for admission: it spends from what is held for the outer request, and its cost and
 * attempts count as that request's (decisions/0051).
 */
import { atOnce } from '../../lib/steps.ts'
import type { Frame, ModelEvent, TakeFrames } from '../../canonical/event.ts'
import { PARAGRAPH_BREAK } from '../../canonical/event.ts'
import type { Message } from '../../canonical/prompt.ts'
import type { ServerTool, ServerToolFault } from '../../canonical/server-tools.ts'
import { type ErrorType, GatewayError } from '../../errors.ts'
import { isUnpaid } from '../../ledger/refusal.ts'
import { chatFormat } from '../../formats/openai-chat/openai-chat.ts'
import { responsesFormat } from '../../formats/openai-responses/openai-responses.ts'
import { isGuardrailBlock } from '../../guardrails/detections.ts'
import type { Clock } from '../../lib/clock.ts'
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { AskModel, ModelAnswer, Question } from '../../tools/ask.ts'
import type { ToolKit } from '../../tools/kit.ts'
import type { MakeTool } from '../../tools/tool.ts'
import { admitWithin } from '../admit/admit.ts'
import type { Admitted } from '../admitted.ts'
import { answerHead, answerTail } from '../answer-head.ts'
import { asFailure } from '../as-failure.ts'
import { hideInError } from '../screen/hide-in-error.ts'
import { plan, type PlanParts } from '../plan/plan.ts'
import { prepare, type PrepareParts } from '../prepare/prepare.ts'
import { screen, type ScreenParts } from '../screen/screen.ts'
import type { Planned, Received } from '../request.ts'
import type { WorkspaceDefaults } from '../../workspaces/workspaces.ts'
import type { DefaultsOf } from '../prepare/workspace-defaults.ts'
import { questionMessages } from './question-messages.ts'

export interface AskModelParts extends PrepareParts, ScreenParts, PlanParts {
  readonly clock: Clock
  /** Runs an admitted inference, with its tools if it has any. */
  readonly answer: (admitted: Admitted, take: TakeFrames) => Promise<GatewayError | null>
}

export const createAskModel = (parts: AskModelParts): ((outer: Admitted) => AskModel) => {
  const inner = { ...parts, toolKit: withoutAgents(parts.toolKit), defaultsOf: withoutPlugins(parts.defaultsOf) }
  return (outer) => async (question, signal) => {
    try {
      signal.throwIfAborted()
      const own = { ...inner, toolKit: fetchingWhatWasGiven(inner.toolKit, question.given ?? []) }
      const planned = await plannedFor(outer, question, own)
      // The signal may have been aborted meanwhile, when there was no connection to end.
      signal.throwIfAborted()
      const admitted = admitWithin(outer, planned, parts.clock, question.isAdvice === true)
      return await answerOf(admitted, question, signal, parts.answer)
    } catch (thrown) {
      return failure(hideInError(asFailure(thrown), outer.request.hidden), question.model)
    }
  }
}

const plannedFor = async (outer: Admitted, question: Question, parts: Omit<AskModelParts, 'answer'>): Promise<Planned> => {
  const prepared = await prepare(receivedFor(outer.request, question), parts)
  const screened = await screen({ ...prepared, effects: outer.request.effects }, parts)
  return atOnce(plan(screened, parts))
}

const receivedFor = (
  { principal, requestId, userAgent, referer, call }: Planned,
  { model, messages, items, options, onText, onReasoning }: Question,
): Received => {
  const text = JSON.stringify({
    model,
    ...(items === undefined ? { messages: questionMessages(messages) } : { input: [...messages.map(messageItem), ...items] }),
    ...(onText === undefined && onReasoning === undefined ? {} : { stream: true }),
    ...(call.user === null ? {} : { user: call.user }),
    ...privacyOf(call.body),
    ...options,
  })
  return {
    apiType: 'completions',
    format: items === undefined ? chatFormat : responsesFormat,
    body: JsonBody.read(text),
    bytes: text.length,
    // Options of the inner request are applied as far as the model allows: a strict caller is strict about its own request only.
    principal: { ...principal, strict: false },
    permit: null,
    requestId,
    userAgent,
    referer,
    headers: { strict: false, sessionId: null, vendor: null, trace: null, sent: null },
  }
}

const messageItem = ({ role, parts }: Message): JsonObject => ({
  type: 'message',
  role,
  content: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
})

/**
 * Limits on where the conversation may go apply to every request made from it; other provider preferences are for the client's own model.
 */
const privacyOf = (body: JsonBody): JsonObject => {
  const preferences = body.value('provider')
  if (!isObject(preferences)) return {}
  const kept = ['data_collection', 'zdr', 'ignore'].flatMap((name) => (preferences[name] === undefined ? [] : [[name, preferences[name]]]))
  return kept.length === 0 ? {} : { provider: Object.fromEntries(kept) as JsonObject }
}

const answerOf = async (
  admitted: Admitted,
  { model, items, onText, onReasoning }: Question,
  signal: AbortSignal,
  answer: AskModelParts['answer'],
): Promise<ModelAnswer> => {
  const stop = (): void => {
    admitted.connection.leave()
    admitted.connection.stop(new GatewayError('timeout', 'The request that asked has ended.'))
  }
  signal.addEventListener('abort', stop, { once: true })
  let text = ''
  const pictures: string[] = []
  const frames: Frame[] = []
  const say = (piece: string): Promise<void> | undefined => {
    text += piece
    return onText?.(piece)
  }
  const hear = (event: ModelEvent): Promise<void> | undefined => {
    if (event.type === 'text' || event.type === 'refusal') return say(event.text)
    if (event.type === 'text-break' && text !== '') return say(PARAGRAPH_BREAK)
    if (event.type === 'reasoning') return onReasoning?.(event.text)
    if (event.type === 'image') pictures.push(event.url)
    return undefined
  }
  try {
    const error = await answer(admitted, (batch) => {
      if (items !== undefined) frames.push(...batch)
      const behind = batch.flatMap(({ events }) => events.flatMap((event) => hear(event) ?? []))
      return behind.length === 0 ? undefined : Promise.all(behind).then(() => {})
    })
    const answered = admitted.log.current?.planned.model.id ?? model
    if (error !== null) return failure(error, answered)
    return { fault: null, model: answered, text, pictures, items: items === undefined ? [] : itemsIn(admitted, frames) }
  } finally {
    signal.removeEventListener('abort', stop)
    admitted.endWithin()
  }
}

/** The answer's items as a client of Responses gets them, so that the next question can continue where this answer ended. */
const itemsIn = (admitted: Admitted, frames: readonly Frame[]): readonly JsonObject[] => {
  const answer = { events: frames.flatMap(({ events }) => events) }
  const { output } = JSON.parse(atOnce(responsesFormat.renderAnswer(answerHead(admitted), answer, answerTail(admitted, null), null))) as {
    readonly output: readonly JsonObject[]
  }
  return output
}

const failure = (error: GatewayError, model: string): ModelAnswer => ({
  fault: { code: isGuardrailBlock(error) ? 'blocked_by_guardrail' : (FAULTS[error.type] ?? 'unavailable'), message: error.publicMessage },
  model,
  isUnpaid: isUnpaid(error),
})

const FAULTS: Readonly<Partial<Record<ErrorType, ServerToolFault>>> = {
  not_found: 'model_not_found',
  rate_limit_exceeded: 'too_many_requests',
  context_length_exceeded: 'prompt_too_long',
  timeout: 'execution_time_exceeded',
}

/** Plugins of a workspace apply once to a request, and not to the questions asked within it: otherwise a judge would itself be judged. */
const withoutPlugins =
  (defaultsOf: DefaultsOf): DefaultsOf =>
  (workspaceId) => {
    const without = (defaults: WorkspaceDefaults | null): WorkspaceDefaults | null =>
      defaults === null ? null : { ...defaults, plugins: null }
    const found = defaultsOf(workspaceId)
    return found instanceof Promise ? found.then(without) : without(found)
  }

/** A model that answers a tool may not call tools that ask another model: the chain would have no end. */
const withoutAgents = (kit: ToolKit): ToolKit => ({
  ...kit,
  ...(Object.fromEntries(AGENTS.map((tool) => [tool, refusedInside])) as Record<(typeof AGENTS)[number], MakeTool>),
})

/**
 * The user's messages of this question were written by the model that asks, so an address that only they contain was not given by anyone
 * (docs/contract/tools.md#web-fetch).
 */
const fetchingWhatWasGiven = (kit: ToolKit, given: readonly Message[]): ToolKit => ({
  ...kit,
  web_fetch(asked, caller) {
    const tool = kit.web_fetch(asked, caller)
    return {
      ...tool,
      run(input, turn) {
        const messages = turn.prompt.messages.map((message): Message =>
          message.role === 'user' ? { ...message, parts: message.parts.filter(({ type }) => type === 'tool-result') } : message,
        )
        return tool.run(input, { ...turn, prompt: { ...turn.prompt, messages: [...given, ...messages] } })
      },
    }
  },
})

const AGENTS = ['advisor', 'subagent', 'fusion'] as const satisfies readonly ServerTool[]

const refusedInside: MakeTool = ({ askedAs }) => {
  throw new GatewayError('invalid_request', `${askedAs} cannot run within a tool that asks a model.`)
}
