/** Decides which of a provider's dialects accepts a request, and which loses the fewest fields if the request has to be translated. */
import type { Call } from '../../canonical/call.ts'
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import { fieldMeanings, settingFields } from '../../request-fields/request-fields.ts'
import { acceptsChatField } from '../vendors/chat-fields.ts'
import { fieldOutcomes, TRANSLATED_DIALECTS, type TranslatedDialect } from './loss-table.ts'
import { openAiModelOf } from '../vendors/openai-model.ts'
import type { Target } from '../provider.ts'
import { vendorOf } from '../vendors/vendors.ts'

type Addressee = Pick<Target, 'provider' | 'upstreamModel' | 'modelId'>

/**
 * Says whether a provider refuses in this dialect a request that it takes in another. Only OpenAI's models do so, for tools in Chat
 * Completions.
 */
export const refusesIn = (dialect: string, { dialect: client, body }: Pick<Call, 'dialect' | 'body'>, target: Addressee): boolean => {
  if (dialect !== 'openai-chat' || !vendorOf(target.provider).openAiModels) return false
  const { chatToolsRefused } = openAiModelOf(target)
  if (chatToolsRefused === 'never' || !TOOLS.some((field) => HOLDS_SOME.test(body.rawSearchable(field) ?? ''))) return false
  const effort = client === 'chat' ? chatEffort(body) : undefined
  return effort !== 'none' && (chatToolsRefused === 'unless-none' || effort !== null)
}

const TOOLS = ['tools', 'functions'] as const
const HOLDS_SOME = /^\[\s*\{/

/** Null if no effort is asked for. */
const chatEffort = (body: Call['body']): JsonValue => {
  const own = body.value('reasoning_effort')
  const asked = body.value('reasoning')
  if (own !== undefined || !isObject(asked)) return own ?? null
  if (asked['enabled'] === false) return 'none'
  return asked['effort'] ?? asked['max_tokens'] ?? (asked['enabled'] === true ? 'medium' : null)
}

/**
 * Among the dialects that take the request, the first that loses the fewest fields; null if requests are translated to none of `dialects`.
 */
export const fewestLosses = <Dialect extends string>(
  dialects: readonly Dialect[],
  { dialect: client, body }: Pick<Call, 'dialect' | 'body'>,
  target: Addressee,
): Dialect | null => {
  const given = body.keys.filter((field) => body.rawSearchable(field) !== 'null')
  let best: { readonly dialect: Dialect; readonly lost: number } | null = null
  for (const dialect of dialects) {
    if (!isTranslated(dialect)) continue
    const refused = refusesIn(dialect, { dialect: client, body }, target)
    const lost = refused ? Number.MAX_SAFE_INTEGER : given.filter((field) => isLost(client, field, dialect, target)).length
    if (best === null || lost < best.lost) best = { dialect, lost }
  }
  return best?.dialect ?? null
}

const isTranslated = (dialect: string): dialect is TranslatedDialect => TRANSLATED_DIALECTS.some((one) => one === dialect)

const isLost = (client: Call['dialect'], field: string, dialect: TranslatedDialect, target: Addressee): boolean => {
  const outcomes = fieldOutcomes(client, field, dialect)
  if (outcomes.includes('dropped') || outcomes.includes('refused')) return true
  return dialect === 'openai-chat' && fieldMeanings(client, field).some((meaning) => isRefused(CHAT_FIELDS.get(meaning), target))
}

/** The field that a vendor has to accept for each setting, except settings that have rules of their own. */
const CHAT_FIELDS: ReadonlyMap<string, string> = new Map(
  [...settingFields('chat')].flatMap(([name, [field]]): [string, string][] =>
    name === 'maxOutputTokens' || name === 'reasoning' ? [] : [[name, field]],
  ),
)

const isRefused = (field: string | undefined, target: Addressee): boolean => field !== undefined && !acceptsChatField(target, field, null)
