/** Which of a provider's dialects carries most of a request that has to be translated. */
import type { Call } from '../canonical/call.ts'
import { fieldMeanings, settingFields } from '../request-fields/request-fields.ts'
import { fieldFates, TRANSLATED_DIALECTS, type TranslatedDialect } from './loss-table.ts'
import { acceptsField, openAiModelOf } from './openai-model.ts'
import type { Target } from './provider.ts'
import { vendorOf } from './vendors.ts'

type Addressee = Pick<Target, 'provider' | 'upstreamModel' | 'modelId'>

/** The first of those that lose fewest fields; null where none is one that requests are translated to. */
export const fewestLosses = <Dialect extends string>(
  dialects: readonly Dialect[],
  { dialect: client, body }: Pick<Call, 'dialect' | 'body'>,
  target: Addressee,
): Dialect | null => {
  const given = body.keys.filter((field) => body.rawSearchable(field) !== 'null')
  let best: { readonly dialect: Dialect; readonly lost: number } | null = null
  for (const dialect of dialects) {
    if (!isTranslated(dialect)) continue
    const lost = given.filter((field) => isLost(client, field, dialect, target)).length
    if (best === null || lost < best.lost) best = { dialect, lost }
  }
  return best?.dialect ?? null
}

const isTranslated = (dialect: string): dialect is TranslatedDialect => TRANSLATED_DIALECTS.some((one) => one === dialect)

const isLost = (client: Call['dialect'], field: string, dialect: TranslatedDialect, target: Addressee): boolean => {
  const fates = fieldFates(client, field, dialect)
  if (fates.includes('dropped') || fates.includes('refused')) return true
  return dialect === 'openai-chat' && fieldMeanings(client, field).some((meaning) => !isAccepted(CHAT_FIELDS.get(meaning), target))
}

/** The field that a vendor has to accept for a setting, but for those that have rules of their own. */
const CHAT_FIELDS: ReadonlyMap<string, string> = new Map(
  [...settingFields('chat')].flatMap(([name, [field]]): [string, string][] =>
    name === 'maxOutputTokens' || name === 'reasoning' ? [] : [[name, field]],
  ),
)

const isAccepted = (field: string | undefined, target: Addressee): boolean => {
  const { accepts, openAiModels } = vendorOf(target.provider)
  if (field === undefined || accepts === 'everything' || accepts.chat === undefined) return true
  return accepts.chat.has(field) || (openAiModels && acceptsField(openAiModelOf(target), field, null))
}
