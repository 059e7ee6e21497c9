/**
 * Encodes a request for an upstream that speaks Messages. The request of a client of the same dialect is not translated: see
 * relay-request.ts.
 */
import { passesAsWritten } from '../../canonical/call.ts'
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { settingFields } from '../../request-fields/request-fields.ts'
import { fieldsOfObject } from '../vendors/editable-fields.ts'
import { jsonText } from '../transport/encoded.ts'
import type { Attempt } from '../provider.ts'
import { isPrefilled } from '../roles/turns.ts'
import { describedSchema } from '../tools/described-schema.ts'
import { isSuperseded } from './cache-marks.ts'
import { encodeContext, type EncodeContext } from './encode-context.ts'
import { encodeConversation, isUnthoughtLoop, type Turn } from './encode-conversation.ts'
import { BLOCK_FORM } from './encode-parts.ts'
import { encodeSampling, seenStops } from './encode-settings.ts'
import { encodeReasoning } from './encode-reasoning.ts'
import { encodeFormat } from './encode-format.ts'
import { encodeTools } from './encode-tools.ts'
import { keepEdits, keepLawful } from './lawful-fields.ts'
import { isImitation } from './model-rules.ts'
import { refusePlainAddresses } from './plain-addresses.ts'
import { relayChanges } from './relay-request.ts'
import { keepAcceptedFields } from './relay-rules.ts'
import { encodeServiceTier } from './service-tier.ts'

/** Returns JSON text. Throws `invalid_prompt`, and `invalid_request` for what the dialect refuses. */
export function* encodeAnthropicRequest(attempt: Attempt): Steps<string> {
  if (!passesAsWritten(attempt.call, 'messages')) return yield* translated(yield* encodeContext(attempt), attempt)
  const changes = yield* relayChanges(attempt)
  yield
  return attempt.call.body.textWith(changes)
}

/** The request body, encoded for sending. */
export function* anthropicWire(attempt: Attempt): Steps<string | Uint8Array<ArrayBuffer>> {
  if (!passesAsWritten(attempt.call, 'messages')) return yield* encodeAnthropicRequest(attempt)
  const changes = yield* relayChanges(attempt)
  yield
  const { body } = attempt.call
  return body.hasBytes ? yield* body.writingWire(changes) : body.textWith(changes)
}

function* translated(context: EncodeContext, attempt: Attempt): Steps<string> {
  yield* refusePlainAddresses(attempt, false)
  const { stream } = attempt.call
  const { system, turns } = yield* encodeConversation(context)
  // Before the tools, which get what is left of the grammar.
  const { schema, words } = encodeFormat(context, context.rules.structuredOutputs)
  const { tools, toolChoice, forced } = yield* encodeTools(context)
  const { maxTokens, thinking, effort } = encodeReasoning(context, {
    forced,
    unthoughtLoop: !isImitation(context.target) && isUnthoughtLoop(turns),
    prefilled: isPrefilled(turns, BLOCK_FORM.isPaused),
  })
  const format = schema === undefined ? undefined : { type: 'json_schema', schema: describedSchema(schema, context.prompt.outputFormat) }
  const user = encodeUser(context)
  const head = JSON.stringify({ model: context.target.upstreamModel, max_tokens: maxTokens, ...(stream ? { stream } : {}) })
  const fields = {
    tools,
    tool_choice: toolChoice,
    thinking,
    output_config: effort === undefined && format === undefined ? undefined : { effort, format },
    ...encodeSampling(context, thinking?.['type'] === 'enabled' || thinking?.['type'] === 'adaptive'),
    stop_sequences: seenStops(context),
    metadata: user === undefined ? undefined : { user_id: user },
    service_tier: encodeServiceTier(context.setting('serviceTier'), context.fieldOf('serviceTier'), context),
    cache_control: wholeMark(turns, context, attempt),
    inference_geo: context.setting('inferenceGeo'),
  }
  const tail = yield* jsonText(acceptedFields(fields, context, attempt), attempt.call)
  const prompts = [...system.map(({ json }) => json), ...(words === undefined ? [] : [JSON.stringify({ type: 'text', text: words })])]
  const systemMember = prompts.length === 0 ? '' : `"system":[${prompts.join(',')}],`
  yield
  const messages = `"messages":[${(yield* mapInSteps(turns, turnText)).join(',')}]`
  yield
  return `${head.slice(0, -1)},${systemMember}${messages}${tail === '{}' ? '}' : `,${tail.slice(1)}`}`
}

const wholeMark = (turns: readonly Turn[], context: EncodeContext, attempt: Attempt): unknown => {
  const whole = context.setting('cacheControl')
  const block = turns.at(-1)?.blocks.at(-1)?.json
  return whole !== undefined && isSuperseded(JSON.stringify(whole), block, attempt) ? undefined : whole
}

/** Keeps the fields that the provider accepts; the others are reported under the client's own names. */
const acceptedFields = (fields: Readonly<Record<string, unknown>>, context: EncodeContext, attempt: Attempt): JsonObject => {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined) as [string, JsonValue][]
  const paths = [...settingFields('messages')].map(([name, [field]]) => [field, context.fieldOf(name)])
  const kept = fieldsOfObject(Object.fromEntries(given), { ...Object.fromEntries(paths), metadata: context.fieldOf('user') })
  keepAcceptedFields(kept, attempt)
  keepLawful(kept, context)
  keepEdits(kept, context)
  return kept.object
}

const turnText = ({ role, blocks, effort }: Turn): string => {
  const config = effort === undefined ? '' : `,"output_config":${JSON.stringify({ effort })}`
  return `{"role":"${role}","content":[${blocks.map(({ json }) => json).join(',')}]${config}}`
}

/** The dialect has a single field for the end user. */
const encodeUser = (context: EncodeContext): string | undefined => {
  const user = context.setting('user')
  const other = context.setting('safetyIdentifier')
  if (user !== undefined && other !== undefined && user !== other)
    context.lose(
      context.fieldOf('safetyIdentifier'),
      `${context.target.providerName} takes one name of the end user; this one was left out.`,
    )
  return user ?? other
}
