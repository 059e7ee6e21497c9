/** Encodes a request of generateContent. The model and the wish for a stream are in its address, not in its body. */
import type { ClientDialect } from '../../canonical/call.ts'
import type { Steps } from '../../lib/steps.ts'
import { jsonText } from '../transport/encoded.ts'
import type { Attempt } from '../provider.ts'
import { translate, type Translation } from '../losses/translation.ts'
import { encodeConversation } from './encode-conversation.ts'
import { geminiModel } from './gemini-model.ts'
import { encodeSettings } from './encode-settings.ts'
import { encodeTools } from './encode-tools.ts'

/** Throws `invalid_prompt`, `invalid_request`. */
export function* encodeGoogleRequest({ call, target, warn }: Attempt): Steps<string> {
  const body = yield* encodeBody(yield* translate(call.prompt(), 'google', target, warn), target, call.dialect)
  yield
  return yield* jsonText(body, call)
}

/** Members that are undefined are not sent. */
export function* encodeBody(
  translation: Translation,
  target: { readonly upstreamModel: string; readonly modelId: string },
  dialect: ClientDialect,
): Steps<Readonly<Record<string, unknown>>> {
  const model = geminiModel(target.upstreamModel)
  yield
  const conversation = yield* encodeConversation(translation, model, target.modelId)
  yield
  const tools = yield* encodeTools(translation)
  warnOfCacheMarks(translation)
  return {
    ...conversation,
    tools: tools.tools,
    toolConfig: tools.toolConfig,
    generationConfig: encodeSettings(translation, model, tools, dialect),
    serviceTier: serviceTier(translation),
  }
}

/** Only one warning for all marks of a request: they are many, and Google caches without them. */
const warnOfCacheMarks = ({ prompt, lose }: Translation): void => {
  const marked = prompt.messages.find(({ parts }) => parts.some((part) => 'cache' in part && part.cache !== undefined))
  const tool = prompt.tools.findIndex((each) => each.type !== 'custom' && each.cache !== undefined)
  if (marked === undefined && tool < 0) return
  const at = marked === undefined ? `tools[${tool}]` : (marked.at ?? 'messages')
  lose(at, 'Google caches prompts by itself; the marks for its cache were left out.')
}

/** The tier that others call fast is priority at Google; null is sent as nothing, which means no preference. */
const TIERS: Readonly<Record<string, string | null>> = {
  auto: null,
  default: 'standard',
  standard: 'standard',
  standard_only: 'standard',
  flex: 'flex',
  priority: 'priority',
  fast: 'priority',
  ultrafast: 'priority',
}

const serviceTier = ({ setting, prompt, lose }: Translation): string | undefined => {
  const wanted = setting('serviceTier')
  if (wanted === undefined) return undefined
  const tier = Object.hasOwn(TIERS, wanted) ? TIERS[wanted] : undefined
  if (tier === undefined)
    lose(prompt.settings.serviceTier?.field ?? 'service_tier', `Google has no service tier ${wanted}; it was left out.`)
  return tier ?? undefined
}
