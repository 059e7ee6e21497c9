/**
 * Encodes a request for Amazon Bedrock's Converse API, which no client speaks: every request is translated. The model's name is in the
 * address.
 */
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { encodeFormat } from '../anthropic/encode-format.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { jsonText } from '../transport/encoded.ts'
import type { Attempt } from '../provider.ts'
import { cachePoint, encodeContext, type EncodeContext } from './encode-context.ts'
import { encodeConversation, type Turn } from './encode-conversation.ts'
import { encodeSettings } from './encode-settings.ts'
import { encodeTools } from './encode-tools.ts'
import type { Block } from './encode-parts.ts'

/** Returns JSON text. Throws `invalid_prompt`, and `invalid_request` for what the dialect refuses. */
export function* encodeConverseRequest(attempt: Attempt): Steps<string> {
  const context = yield* encodeContext(attempt)
  const { system, turns } = yield* encodeConversation(context)
  // Before the tools, which get what is left of the grammar.
  const { schema, words } = encodeFormat(context, context.facts.schemas)
  const { toolConfig, toolChoice, forced } = yield* encodeTools(turns, context)
  const { inferenceConfig, additionalModelRequestFields, effort } = encodeSettings(turns, forced, context)
  const textFormat = schema === undefined ? undefined : textFormatOf(schema, context)
  const others = {
    toolConfig,
    inferenceConfig: filled(inferenceConfig),
    additionalModelRequestFields: filled({
      ...additionalModelRequestFields,
      ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    }),
    additionalModelResponseFieldPaths: claudesPaths(inferenceConfig, additionalModelRequestFields, attempt.call.stream, context),
    outputConfig: effort === undefined && textFormat === undefined ? undefined : { textFormat, effort },
    requestMetadata: encodeMetadata(context),
    serviceTier: encodeServiceTier(context),
  }
  const tail = yield* jsonText(others, attempt.call)
  const prompts = words === undefined ? system : [...system, { type: 'text', json: JSON.stringify({ text: words }) }]
  const systemMember = prompts.length === 0 ? '' : `"system":[${blocksText(prompts)}],`
  yield
  const messages = `"messages":[${(yield* mapInSteps(marked(turns, context), turnText)).join(',')}]`
  yield
  return `{${systemMember}${messages}${tail === '{}' ? '}' : `,${tail.slice(1)}`}`
}

const blocksText = (blocks: readonly Block[]): string => blocks.map(({ json }) => json).join(',')

const turnText = ({ role, blocks }: Turn): string => `{"role":"${role}","content":[${blocksText(blocks)}]}`

const filled = (members: JsonObject): JsonObject | undefined => (Object.keys(members).length === 0 ? undefined : members)

/** A cache mark for the whole request goes after its last block. */
const marked = (turns: readonly Turn[], context: EncodeContext): readonly Turn[] => {
  const asked = context.setting('cacheControl')
  const last = turns.at(-1)
  if (asked === undefined || last === undefined || last.blocks.at(-1)?.marked === true) return turns
  const isResult = last.blocks.at(-1)?.type === 'toolResult'
  const mark = isObject(asked) && asked['ttl'] === '1h' ? { ttl: '1h' as const } : {}
  const point = cachePoint(mark, context.fieldOf('cacheControl'), isResult ? 'result' : 'blocks', context)
  return point === null
    ? turns
    : [...turns.slice(0, -1), { ...last, blocks: [...last.blocks, { type: 'cachePoint', json: JSON.stringify(point) }] }]
}

/**
 * The paths of Claude's own fields that the answer is to have. The one of the sequence that ended it differs between a stream and a whole
 * answer. The tokens of its thinking are in none of Converse's counts.
 */
const claudesPaths = (
  { stopSequences }: JsonObject,
  { thinking }: JsonObject,
  stream: boolean,
  { rules }: EncodeContext,
): string[] | undefined => {
  const thinks = isObject(thinking) ? thinking['type'] !== 'disabled' : rules.thinkingOff !== 'silence'
  const paths = [
    ...(stopSequences === undefined ? [] : [stream ? '/delta/stop_sequence' : '/stop_sequence']),
    ...(thinks ? ['/usage/output_tokens_details'] : []),
  ]
  return rules.claude && paths.length > 0 ? paths : undefined
}

/** The schema is sent as JSON text. */
const textFormatOf = (schema: Readonly<Record<string, unknown>>, { prompt: { outputFormat } }: EncodeContext): JsonObject => {
  const reported = outputFormat.type === 'json-schema' ? outputFormat : null
  return {
    type: 'json_schema',
    structure: {
      jsonSchema: {
        schema: JSON.stringify(schema),
        ...(reported === null || reported.name === '' ? {} : { name: reported.name }),
        ...(reported?.description === undefined ? {} : { description: reported.description }),
      },
    },
  }
}

const METADATA_MAX = 16
const METADATA_TEXT = /^[a-zA-Z0-9\s:_@$#=/+,.-]{0,256}$/

/** Up to 16 short strings of few characters (Converse, "requestMetadata"), which filters of invocation logs use. */
const encodeMetadata = (context: EncodeContext): JsonObject | undefined => {
  const metadata = context.setting('metadata')
  if (metadata === undefined) return undefined
  const entries = Object.entries(metadata)
  const kept = entries
    .flatMap(([key, value]): [string, string][] =>
      key !== '' && METADATA_TEXT.test(key) && typeof value === 'string' && METADATA_TEXT.test(value) ? [[key, value]] : [],
    )
    .slice(0, METADATA_MAX)
  if (kept.length < entries.length)
    context.lose(
      context.fieldOf('metadata'),
      `${context.target.providerName} takes up to ${METADATA_MAX} short plain texts as metadata; the others were left out.`,
    )
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

const encodeServiceTier = (context: EncodeContext): JsonObject | undefined => {
  const tier = context.setting('serviceTier')
  switch (tier) {
    case undefined:
    case 'auto': // auto means no preference
      return undefined
    case 'default':
    case 'standard':
    case 'standard_only':
      return { type: 'default' }
    case 'flex':
    case 'priority':
    case 'reserved':
      return { type: tier }
    default:
      context.lose(context.fieldOf('serviceTier'), `${context.target.providerName} has no tier like ${tier}; it was left out.`)
      return undefined
  }
}
