/** The workspace's default model and order of providers, for requests that do not set them. */
import { isObject } from '../../lib/json/json.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { parseModelReference } from '../../presets/model-reference.ts'
import type { WorkspaceDefaults } from '../../workspaces/workspaces.ts'

/** The defaults of a workspace; null if it has none. Returns without a promise if they are in memory. */
export type DefaultsOf = (workspaceId: string) => WorkspaceDefaults | null | Promise<WorkspaceDefaults | null>

/** A request that names neither a model nor a preset gets the default model, which may be a preset. */
export const withDefaultModel = (body: JsonBody, defaults: WorkspaceDefaults): JsonBody => {
  const model = namesModel(body) || (body.value('preset') ?? null) !== null ? null : defaultModel(body, defaults)
  return model === null ? body : body.with({ model: JSON.stringify(model) })
}

/** Adds the defaults to a request whose preset has been applied. */
export const withDefaults = (body: JsonBody, defaults: WorkspaceDefaults): JsonBody => {
  const model = namesModel(body) ? null : defaultModel(body, defaults)
  // A preset serves its own request: another preset must not replace the model that it lacks.
  const isPlain = model !== null && parseModelReference(model, undefined).preset === null
  const provider = sortedProvider(body.value('provider'), defaults.default_provider_sort)
  if (!isPlain && provider === null) return body
  return body.with({
    ...(isPlain ? { model: JSON.stringify(model) } : {}),
    ...(provider === null ? {} : { provider: JSON.stringify(provider) }),
  })
}

const namesModel = (body: JsonBody): boolean => {
  const models = body.value('models')
  return (body.value('model') ?? null) !== null || (Array.isArray(models) && models.length > 0)
}

const defaultModel = (body: JsonBody, defaults: WorkspaceDefaults): string | null => {
  const modalities = body.value('modalities')
  return Array.isArray(modalities) && modalities.includes('image') ? defaults.default_image_model : defaults.default_text_model
}

/** Null if nothing needs changing: the request names a sort, or is invalid. */
const sortedProvider = (given: unknown, sort: WorkspaceDefaults['default_provider_sort']): object | null => {
  if (sort === null) return null
  const provider = given ?? {}
  if (!isObject(provider)) return null
  const asked = provider['sort'] ?? null
  if (asked === null) return { ...provider, sort }
  return isObject(asked) && (asked['by'] ?? null) === null ? { ...provider, sort: { ...asked, by: sort } } : null
}
