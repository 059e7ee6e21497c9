/**
 * Encodes a request for an upstream that speaks Responses: either a client's own JSON with only our fields replaced, or a conversation of
 * another dialect.
 */
import { passesAsWritten } from '../../canonical/call.ts'
import { SEALED_THINKING } from '../../request-fields/schemas/output.ts'
import { withoutUnsentFields } from '../../request-fields/service-fields.ts'
import { type JsonChanges, type JsonObject, type JsonValue, listOf } from '../../lib/json/json.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import type { Steps } from '../../lib/steps.ts'
import { marksLost, withTakenMarks } from '../cache-marks.ts'
import { type EditableFields, fieldsOfBody, fieldsOfObject } from '../vendors/editable-fields.ts'
import { jsonText } from '../transport/encoded.ts'
import { loseChoice } from '../tools/demanded-tool.ts'
import { dropCacheOptions, type RuleContext } from '../vendors/field-rules.ts'
import { openAiModel } from '../vendors/openai-model.ts'
import { responsesModel } from '../vendors/reasoning-words.ts'
import { heldFormat, heldTools } from '../tools/openai-strict-schema.ts'
import type { Attempt } from '../provider.ts'
import { refuseStoredInTools, refuseStoredObjects } from '../media/stored-objects.ts'
import { translate, type Translation } from '../losses/translation.ts'
import { mayHoldUnsupportedMedia, refuseUnsupportedMedia } from '../media/unsupported-media.ts'
import { vendorOf } from '../vendors/vendors.ts'
import { encodeConversation } from './encode-conversation.ts'
import { encodeSettings } from './encode-settings.ts'
import { encodeToolChoice, encodeTools } from './encode-tools.ts'
import { applyFieldRules } from './field-rules.ts'
import { lawfulInput, mayHoldCalls } from './lawful-input.ts'
import { lostMarks } from './lost-marks.ts'
import { replayableInput } from './replayable-input.ts'
import { loseCarried, lossesTo } from '../losses/losses.ts'

/** The request body, encoded for sending. */
export function* responsesWire(attempt: Attempt): Steps<string | Uint8Array<ArrayBuffer>> {
  if (!passesAsWritten(attempt.call, 'responses')) return yield* encodeResponsesRequest(attempt)
  const changes = yield* relayChanges(attempt)
  yield
  const { body } = attempt.call
  return body.hasBytes ? yield* body.writingWire(changes) : body.textWith(changes)
}

/** Returns JSON text. */
export function* encodeResponsesRequest(attempt: Attempt): Steps<string> {
  const { call, target, warn } = attempt
  if (passesAsWritten(call, 'responses')) return call.body.textWith(yield* relayChanges(attempt))
  refuseStoredInTools(call.body, target)
  const { openAiModels: takesAllowedTools } = vendorOf(target.provider)
  const translation = yield* translate(call.prompt(), 'openai-responses', target, warn, { takesAllowedTools })
  const prompt = yield* encodePrompt(translation, attempt)
  yield
  // Nothing is stored for later reference: each request brings its whole history (docs/contract/responses.md#nothing-is-stored).
  const bounds = target.maxToolCalls == null ? {} : { max_tool_calls: target.maxToolCalls }
  return yield* jsonText({ model: target.upstreamModel, ...prompt, ...bounds, stream: call.stream, store: false }, call)
}

/** Encodes all that is translated; the encoder reads settings nowhere else. */
export function* encodePrompt(translation: Translation, context: RuleContext): Steps<JsonObject> {
  const { target } = context
  const model = responsesModel(target)
  const marks = lostMarks(translation)
  const { instructions, input, replaysThinking, keepsMarks } = yield* encodeConversation(translation, target, model, marks)
  const { dialect } = context.call
  const held = vendorOf(target.provider).openAiModels ? heldTools(translation.prompt.tools, dialect, translation) : translation.prompt.tools
  const tools = encodeTools({ ...translation, prompt: { ...translation.prompt, tools: held } }, marks, target)
  if (tools.length === 0) loseChoice(translation)
  const settings = encodeSettings(translation, {
    model,
    replaysThinking,
    format: heldFormat(translation.prompt.outputFormat, dialect, context.warn),
  })
  const fields = fieldsOfObject(
    { ...(tools.length === 0 ? {} : { tools, ...encodeToolChoice(translation, tools) }), ...settings.fields },
    settings.paths,
  )
  if (marks.any() && !keepsMarks) dropCacheOptions(fields, context)
  yield* applyFieldRules(fields, context)
  return { ...(instructions === null ? {} : { instructions }), input, ...fields.object }
}

/** Returns the changes to the client's body. */
function* relayChanges(attempt: Attempt): Steps<JsonChanges> {
  const { call, target, warn } = attempt
  const { body } = call
  loseCarried(attempt)
  yield* refuseStoredObjects(body, 'input', target)
  const given = (yield* mayHoldUnsupportedMedia(body.searchable, target)) ? body.value('input') : undefined
  if (Array.isArray(given)) refuseUnsupportedMedia(given, 'input', { target, ...lossesTo(warn) })
  const changes: Record<string, string | null> = {
    ...withoutUnsentFields(body),
    ...(target.maxToolCalls == null ? {} : { max_tool_calls: JSON.stringify(target.maxToolCalls) }),
    model: JSON.stringify(target.upstreamModel),
    stream: JSON.stringify(call.stream),
    store: 'false',
  }
  yield
  const input = yield* replayableInput(body, target, openAiModel(target.upstreamModel), warn)
  if (input !== null) changes['input'] = input
  yield
  const isKnown = vendorOf(target.provider).accepts !== 'everything'
  const lawful = isKnown && (yield* mayHoldCalls(body.searchable)) ? yield* lawfulRelayed(body, input, warn) : null
  if (lawful !== null) changes['input'] = lawful
  yield
  const fields = fieldsOfBody(body, changes)
  if (body.value('store') !== false) includeThinking(fields, target)
  yield* applyFieldRules(fields, attempt)
  yield* fields.written()
  yield
  Object.assign(changes, yield* unmarkedLists(attempt, changes))
  return changes
}

/**
 * A client that counts on a stored response sends back the items of its thinking by their ids alone. Since nothing is stored, OpenAI would
 * not find them, so the items get what they need to come back by themselves.
 */
const includeThinking = (fields: EditableFields, { provider, upstreamModel }: Attempt['target']): void => {
  if (!vendorOf(provider).openAiModels || openAiModel(upstreamModel).reasons !== true) return
  const included = listOf(fields.value('include'))
  if (!included.includes(SEALED_THINKING)) fields.put('include', [...included, SEALED_THINKING])
}

/** `replayable`: the changed text of `input`; null if it was not changed. */
function* lawfulRelayed(body: JsonBody, replayable: string | null, warn: Attempt['warn']): Steps<string | null> {
  const items = replayable === null ? body.value('input') : (JSON.parse(replayable) as JsonValue)
  if (!Array.isArray(items)) return null
  return yield* lawfulInput(() => replayable ?? body.raw('input') ?? '[]', items, warn)
}

const LISTS = ['input', 'tools'] as const

function* unmarkedLists({ call: { body }, target, warn }: Attempt, changes: JsonChanges): Steps<Record<string, string>> {
  const { accepts, cacheMarks, openAiModels } = vendorOf(target.provider)
  if (accepts === 'everything' || accepts.responses === undefined) return {}
  const breakpoints = accepts.responses.has('prompt_cache_options') || (openAiModels && openAiModel(target.upstreamModel).cacheBreakpoints)
  return yield* withTakenMarks(
    body,
    () => Object.fromEntries(LISTS.map((name) => [name, (Object.hasOwn(changes, name) ? changes[name] : body.raw(name)) ?? undefined])),
    {
      cache_control: cacheMarks !== null ? 'taken' : breakpoints && openAiModels ? 'breakpoint' : 'refused',
      prompt_cache_breakpoint: breakpoints ? 'taken' : 'refused',
    },
    (field) => warn(marksLost(target.providerName, field)),
  )
}
