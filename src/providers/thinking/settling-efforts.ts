/**
 * Gives a model that knows no changes of the effort within a conversation (effort-changes.ts) the effort that counts for its
 * answer, on both lanes.
 */
import { passesAsWritten, type ClientDialect } from '../../canonical/call.ts'
import { changeOfAnswer, changesEffort, type EffortTurn, withEffortOfAnswer } from './effort-changes.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { editElementsInSteps, editMembers } from '../../lib/json/json-splice.ts'
import { isObject, listOf, textOf } from '../../lib/json/json.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import { once } from '../../lib/once.ts'
import type { Steps } from '../../lib/steps.ts'
import { encoded } from '../transport/encoded.ts'
import type { Attempt, ProviderAdapter, TokenCounter } from '../provider.ts'

interface EffortRules {
  /** The client dialect that the provider speaks; null if it is another than Messages. */
  readonly own: Extract<ClientDialect, 'messages'> | null
  /** Says whether the model gets the changes themselves. */
  readonly keeps: (attempt: Attempt) => boolean
}

const NO_CHANGES: EffortRules = { own: null, keeps: () => false }

export const settlingEfforts =
  (adapter: ProviderAdapter, rules = NO_CHANGES): ProviderAdapter =>
  (attempt, context, take) => {
    if (attempt.call.dialect !== 'messages') return adapter(attempt, context, take)
    const settled = encoded(withSettledEffort(attempt, rules), attempt, context)
    return settled instanceof Promise ? settled.then((one) => adapter(one, context, take)) : adapter(settled, context, take)
  }

export const settlingCountedEfforts =
  (counter: TokenCounter, rules = NO_CHANGES): TokenCounter =>
  async (attempt, context) =>
    attempt.call.dialect === 'messages'
      ? await counter(await encoded(withSettledEffort(attempt, rules), attempt, context), context)
      : await counter(attempt, context)

function* withSettledEffort(attempt: Attempt, { own, keeps }: EffortRules): Steps<Attempt> {
  const { call } = attempt
  if (keeps(attempt)) return attempt
  if (!passesAsWritten(call, own)) return { ...attempt, call: { ...call, prompt: once(() => withEffortOfAnswer(call.prompt())) } }
  if (!(yield* lookForName(CONFIG, call.body.rawSearchable('messages') ?? ''))) return attempt
  const body = yield* settledBody(call.body)
  return body === null ? attempt : { ...attempt, call: { ...call, body } }
}

const CONFIG = /"output_config"/

/** The client's own JSON without its changes of the effort, and with the effort that counts; null if it has none. */
function* settledBody(body: JsonBody): Steps<JsonBody | null> {
  const turns = listOf(yield* body.parsing('messages')).map(turnOf)
  const raw = body.raw('messages')
  if (raw === undefined || !turns.some(changesEffort)) return null
  const effort = changeOfAnswer(turns)?.effort
  const given = body.value('output_config')
  const messages = yield* editElementsInSteps(raw, (text, index) => {
    const turn = turns[index]
    if (turn === undefined || !changesEffort(turn)) return text
    return turn.parts.length === 0 ? null : editMembers(text, { output_config: null })
  })
  const config = effort === undefined ? {} : { output_config: JSON.stringify({ ...(isObject(given) ? given : {}), effort }) }
  return yield* body.changing({ messages, ...config })
}

const turnOf = (message: unknown): EffortTurn => {
  const { role, content, output_config: config } = isObject(message) ? message : {}
  const parts = typeof content === 'string' ? (content === '' ? [] : [{ type: 'text' }]) : listOf(content).map(partOf)
  const effort = role === 'system' && isObject(config) ? config['effort'] : undefined
  return { role: textOf(role), parts, ...(typeof effort === 'string' ? { effort } : {}) }
}

const partOf = (block: unknown): { readonly type: string } => ({
  type: isObject(block) && block['type'] === 'tool_result' ? 'tool-result' : 'unknown',
})
