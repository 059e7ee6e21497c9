/** The rules of a vendor's model for a request in Chat Completions. */
import { acceptsField, openAiModelOf } from './openai-model.ts'
import type { Target } from '../provider.ts'
import { vendorOf } from './vendors.ts'

type Addressee = Pick<Target, 'provider' | 'upstreamModel' | 'modelId'>

/** `effort`: the effort that the model is asked for; null if none is. */
export const acceptsChatField = (target: Addressee, field: string, effort: string | null): boolean => {
  const { accepts, openAiModels, refusedFields } = vendorOf(target.provider)
  if (accepts === 'everything' || accepts.chat === undefined) return true
  if (refusedFields.some(({ models, fields }) => fields.includes(field) && models.test(target.upstreamModel))) return false
  return accepts.chat.has(field) || (openAiModels && acceptsField(openAiModelOf(target), field, effort))
}
