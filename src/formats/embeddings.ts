/** Embeddings are passed through: vectors are neither parsed nor re-encoded (docs/contract/models.md#embeddings). */
import type { Call } from '../canonical/call.ts'
import type { Frame } from '../canonical/event.ts'
import { inputTokens } from '../canonical/usage.ts'
import { embeddingsRequest } from '../request-fields/schemas/embeddings.ts'
import type { Warning } from '../canonical/warning.ts'
import { invalidField, validate } from '../contract/validate.ts'
import { GatewayError } from '../errors.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { isObject } from '../lib/json/json.ts'
import { dollars } from '../lib/money.ts'
import type { AnswerHead, AnswerTail, ClientFormat } from './format.ts'
import { renderError } from './openai-chat/render-error.ts'

export interface EmbeddingsFormat extends Pick<ClientFormat, 'dialect' | 'parseCall' | 'renderError'> {
  renderAnswer(
    head: Pick<AnswerHead, 'generationId' | 'model' | 'provider'>,
    answer: Frame,
    tail: Pick<AnswerTail, 'usage' | 'cost' | 'metadata'>,
  ): string
}

export const embeddingsFormat: EmbeddingsFormat = {
  dialect: 'chat',
  *parseCall(body) {
    const members = Object.fromEntries(body.keys.map((key) => [key, body.get(key)]))
    const { model, user, session_id } = validate(embeddingsRequest, { ...members, input: abridged(members['input']) })
    if (model.includes('@preset/')) throw invalidField('model', PRESETLESS)
    if (body.value('preset') !== undefined) throw invalidField('preset', PRESETLESS)
    yield
    return { call: callOf(body, model, named(user), named(session_id)), warnings: lostFields(body) }
  },
  renderAnswer({ generationId, model, provider }, { native }, { usage, cost, metadata }) {
    if (native === undefined) throw new TypeError('Vectors came without their text.')
    const reported = { prompt_tokens: inputTokens(usage), total_tokens: inputTokens(usage), cost: dollars(cost.totalNanos) }
    return (native.body ?? JsonBody.ofParsed(native.json)).textWith({
      id: JSON.stringify(generationId),
      model: JSON.stringify(model),
      provider: JSON.stringify(provider),
      usage: JSON.stringify(reported),
      ...(metadata === null ? {} : { [metadata.field]: JSON.stringify(metadata.value) }),
    })
  },
  renderError,
}

const PRESETLESS = 'A preset is for conversations. Name an embedding model.'

/** The fields for the service that only conversations have. They never reach a provider, so nobody else would tell the client. */
const WITHOUT_EFFECT = ['models', 'route', 'plugins', 'deferred_tools', 'stop_server_tools_when'] as const

const lostFields = (body: JsonBody): Warning[] =>
  WITHOUT_EFFECT.filter((field) => {
    const value = body.value(field)
    return value !== undefined && !(Array.isArray(value) && value.length === 0)
  }).map((field) => ({ code: 'unsupported_field', field, message: `Embeddings do not take ${field}; it was left out.` }))

/** An empty name counts as none. */
const named = (name: string | null | undefined): string | null => (name === undefined || name === '' ? null : name)

/**
 * Returns the shortest input that the schema accepts or refuses for the same reason: lists may hold hundreds of thousands of
 * tokens, and the schema takes time for each.
 */
const abridged = (input: unknown): unknown => {
  if (!Array.isArray(input)) return input
  const elements: readonly unknown[] = input
  const kind = kindOf(elements[0])
  const other = elements.find((element) => kindOf(element) !== kind)
  if (other !== undefined) return [elements[0], other]
  return kind === 'object' ? elements : elements.slice(0, 1)
}

const kindOf = (element: unknown): 'text' | 'token' | 'tokens' | 'object' | 'none' => {
  if (typeof element === 'string') return element === '' ? 'none' : 'text'
  if (isToken(element)) return 'token'
  if (Array.isArray(element)) return element.length > 0 && element.every(isToken) ? 'tokens' : 'none'
  return isObject(element) ? 'object' : 'none'
}

const isToken = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/** True for input that is written as a model's tokens, which cannot be read as text. */
export const isInTokens = (body: Pick<JsonBody, 'value'>): boolean => {
  const input = body.value('input')
  return Array.isArray(input) && ['token', 'tokens'].includes(kindOf((input as readonly unknown[])[0]))
}

const noPrompt = (): never => {
  throw new GatewayError('server', undefined, { cause: new TypeError('Embeddings have no prompt.') })
}

const callOf = (body: JsonBody, model: string, user: string | null, sessionId: string | null): Call => ({
  dialect: 'chat',
  body,
  models: [model],
  stream: false,
  maxOutputTokens: null,
  sessionId,
  user,
  passHeaders: {},
  prompt: noPrompt,
  readingPrompt: noPrompt,
})
