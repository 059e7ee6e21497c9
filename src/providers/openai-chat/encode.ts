/**
 * Encodes a request for an upstream of this dialect: either a client's own JSON with only our fields replaced, or a conversation of another
 * dialect.
 */
import { passesAsWritten } from '../../canonical/call.ts'
import type { Prompt } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { fieldOf } from '../../request-fields/request-fields.ts'
import { answerable } from '../tools/answerable.ts'
import { fieldsOfObject } from '../vendors/editable-fields.ts'
import { jsonText } from '../transport/encoded.ts'
import { dropCacheOptions } from '../vendors/field-rules.ts'
import { FORMAT_FIELDS } from '../vendors/format-fields.ts'
import { refuseSources } from '../media/stored-objects.ts'
import { heldFormat, heldTools } from '../tools/openai-strict-schema.ts'
import type { Attempt } from '../provider.ts'
import { translate, type Translation } from '../losses/translation.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { vendorOf } from '../vendors/vendors.ts'
import { encodeConversation } from './encode-conversation.ts'
import { encodeSettings } from './encode-settings.ts'
import { encodeFormat, encodeTools } from './encode-tools.ts'
import { applyFieldRules } from './field-rules.ts'
import { formatWords } from './format-words.ts'
import { messageContext } from './message-context.ts'
import { applyMessageRules } from './message-rules.ts'
import { relayChanges } from './relay-request.ts'

/** The request body, encoded for sending. */
export function* chatWire(attempt: Attempt): Steps<string | Uint8Array<ArrayBuffer>> {
  const { call, target } = attempt
  if (!passesAsWritten(call, 'chat')) return yield* encodeChatRequest(attempt)
  const changes = yield* relayChanges(attempt, vendorOf(target.provider))
  yield
  return call.body.hasBytes ? yield* call.body.writingWire(changes) : call.body.textWith(changes)
}

/** Returns JSON text. */
export function* encodeChatRequest(attempt: Attempt): Steps<string> {
  const { call, target, warn } = attempt
  const vendor = vendorOf(target.provider)
  if (passesAsWritten(call, 'chat')) return call.body.textWith(yield* relayChanges(attempt, vendor))
  const prompt = call.prompt()
  const carried = unknownFields(call, prompt)
  refuseSources((field) => carried[field], target)
  const translation = yield* translate(prompt, 'openai-chat', target, warn, {
    takesText: vendor.customTools,
    takesAllowedTools: vendor.openAiModels,
    takesOwnPictures: vendor.thinkingBack === 'details',
    carried,
  })
  const encoded = yield* encodePrompt(translation, attempt, vendor)
  yield
  return yield* jsonText({ ...carried, model: target.upstreamModel, ...encoded, ...(call.stream ? { stream: true } : {}) }, call)
}

/**
 * The fields of a chat client that no interface knows. A conversation that was continued here is encoded anew, but such fields still go to
 * a chat provider.
 */
const unknownFields = ({ dialect, body }: Attempt['call'], { otherFields }: Prompt): JsonObject =>
  dialect !== 'chat'
    ? {}
    : Object.fromEntries(
        otherFields.flatMap((name) => {
          const value = fieldOf('chat', name) === undefined ? body.value(name) : undefined
          return value === undefined ? [] : [[name, value]]
        }),
      )

/** Encodes all that is translated; the encoder reads settings nowhere else. */
export function* encodePrompt(given: Translation, attempt: Attempt, vendor: Vendor): Steps<JsonObject> {
  const tools = vendor.openAiModels ? heldTools(given.prompt.tools, attempt.call.dialect, given) : given.prompt.tools
  const translation = { ...given, prompt: { ...given.prompt, tools } }
  const context = messageContext(attempt, vendor, translation)
  const { messages: turns } = translation.prompt
  const ruled = yield* applyMessageRules(yield* encodeConversation(turns, context), context)
  const messages = answerable(turns, ruled).map(({ message }) => message)
  yield
  const settings = encodeSettings(translation, vendor)
  const { dialect } = attempt.call
  const { outputFormat } = translation.prompt
  const fields = fieldsOfObject(
    {
      ...settings.fields,
      // After the settings, so that a tool that asks for a vendor's search overrides the option of the same name.
      ...encodeTools(translation, context),
      ...encodeFormat(vendor.openAiModels ? heldFormat(outputFormat, dialect, attempt.warn) : outputFormat),
    },
    { ...settings.paths, response_format: FORMAT_FIELDS[dialect] },
  )
  if (context.lostMarks()) dropCacheOptions(fields, attempt)
  yield* applyFieldRules(fields, vendor, attempt)
  const words = formatWords(encodeFormat(outputFormat)['response_format'], vendor)
  return { messages: words === null ? messages : [words, ...messages], ...fields.object }
}
