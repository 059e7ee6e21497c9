/** The words for thinking that a vendor's model knows. */
import type { Target } from '../provider.ts'
import { type OpenAiModel, openAiModel } from './openai-model.ts'
import type { ReasoningWords, VendorsReasoning } from './vendor.ts'
import { vendorOf } from './vendors.ts'

/** `model` is the vendor's own name. */
export const wordsFor = (model: string, { others = [], ...words }: VendorsReasoning): ReasoningWords => ({
  ...words,
  ...others.find(({ models }) => models.test(model))?.words,
})

/** The model as Responses asks it: OpenAI's efforts follow from its name, those of another vendor from the vendor's words. */
export const responsesModel = ({ provider, upstreamModel }: Pick<Target, 'provider' | 'upstreamModel'>): OpenAiModel => {
  const model = openAiModel(upstreamModel)
  const { reasoning } = vendorOf(provider)
  const efforts = reasoning === 'object' ? 'any' : wordsFor(upstreamModel, reasoning).efforts
  return efforts === 'any' ? model : { ...model, efforts }
}
