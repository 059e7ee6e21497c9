/** The endpoints of a model as the API lists them (contract 7.5). What nobody has measured is null. */
import type { ModelEndpoints } from '../contract/model.ts'
import { modelResource, pricingOf } from './model-resource.ts'
import type { Model } from './models.ts'

export const endpointsResource = (model: Model): ModelEndpoints => {
  const { id, name, created, architecture } = modelResource(model)
  return {
    id,
    name,
    created,
    architecture,
    endpoints: model.endpoints.map((endpoint) => ({
      name: `${endpoint.provider.name} | ${id}`,
      provider_name: endpoint.provider.name,
      tag: endpoint.provider.slug,
      context_length: model.contextLength,
      max_completion_tokens: endpoint.maxCompletionTokens,
      pricing: pricingOf(endpoint.prices),
      supported_parameters: [...model.supportedParameters],
      quantization: null,
      status: 0,
    })),
  }
}
