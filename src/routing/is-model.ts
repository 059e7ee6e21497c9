/** Says whether a written name means the model that is really asked (docs/contract/routing.md#model-names). */
import type { Models } from '../models/models.ts'
import { matchesPattern } from './pattern.ts'
import { resolveModel } from './resolve-model.ts'
import type { Model, ModelEndpoint } from '../models/model.ts'

/**
 * Matches the id, a vendor's own name, a name with a variant, an alias that asks for the same model at the same address, or
 * `provider/name`; `*` stands for any text. A name that could mean several models matches none of them.
 */
export const isModel = (
  name: string,
  { model, endpoint }: { readonly model: Model; readonly endpoint: ModelEndpoint },
  models: Models,
): boolean => {
  const { listed, spelled } = models.otherNames(endpoint)
  const meant = resolveModel(name, models)?.model.id ?? name
  return [model.id, ...listed, ...spelled].some((known) => matchesPattern(meant, known))
}
