/** The question of an evaluation's item, the same for every version: a given input, or a recorded request. */
import type { ClientDialect } from '../../canonical/call.ts'
import type { EvaluationItem, EvaluationResult, GivenItem, RecordedItem } from '../../contract/evaluation.ts'
import { askedAndAnswered } from '../../contract/generation-content.ts'
import { GatewayError } from '../../errors.ts'
import { type JsonObject, type JsonValue, listOf } from '../../lib/json/json.ts'
import type { ContentStore } from '../../storage/generations/content-store.ts'
import { answerText } from '../contents/answer-text.ts'
import { wordSet } from '../../lib/text/word-set.ts'

export interface ItemRequest {
  readonly dialect: ClientDialect
  /** Has no model. */
  readonly body: JsonObject
  /** The conversation that judges read. */
  readonly conversation: JsonValue
  readonly expected: JsonValue
}

/** Throws `not_found` if the contents of a recorded request are gone. */
export type ReadItem = (workspaceId: string, item: EvaluationItem) => Promise<ItemRequest>

export const isRecorded = (item: EvaluationItem): item is RecordedItem => 'generationId' in item

export const createReadItem =
  (contents: Pick<ContentStore, 'get'>): ReadItem =>
  async (workspaceId, item) =>
    isRecorded(item) ? recordedRequest(item, (await contents.get(item.generationId, workspaceId))?.content ?? null) : givenRequest(item)

/** An item as the API shows it: a recorded one is only named, and can be read where it is stored. */
export const shownItem = (item: EvaluationItem): Pick<EvaluationResult, 'messages' | 'expected' | 'generation_id'> =>
  isRecorded(item)
    ? { messages: null, expected: null, generation_id: item.generationId }
    : { messages: item.messages, expected: item.expected, generation_id: null }

const givenRequest = ({ messages, tools, expected }: GivenItem): ItemRequest => ({
  dialect: 'chat',
  body: { messages, ...(tools === null ? {} : { tools }) },
  conversation: messages,
  expected,
})

const recordedRequest = ({ generationId, expectsAnswer }: RecordedItem, content: JsonObject | null): ItemRequest => {
  if (content === null) throw new GatewayError('not_found', `The contents of ${generationId} are not kept any more.`)
  const { interface: dialect, request, answer } = askedAndAnswered.parse(content)
  if (request === null) throw new GatewayError('not_found', `The request of ${generationId} was too large to be kept whole.`)
  const body = Object.fromEntries(Object.entries(request).filter(([name]) => !NOT_REPEATED.has(name)))
  return {
    dialect,
    body,
    conversation: conversationOf[dialect](body),
    expected: expectsAnswer && answer !== null ? answerText(dialect, answer) : null,
  }
}

/** Fields that name the model, the way of delivery, or the caller's session. */
const NOT_REPEATED: ReadonlySet<string> = wordSet(
  'model models fallbacks preset stream stream_options session_id trace cache_enabled cache_ttl_seconds',
)

const conversationOf: Readonly<Record<ClientDialect, (body: JsonObject) => JsonValue>> = {
  chat: ({ messages }) => messages ?? [],
  messages: ({ system, messages }) => [...systemMessage(system), ...listOf(messages)],
  responses: ({ instructions, input }) => [
    ...systemMessage(instructions),
    ...(typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input)),
  ],
}

const systemMessage = (content: JsonValue | undefined): readonly JsonObject[] => (content == null ? [] : [{ role: 'system', content }])
