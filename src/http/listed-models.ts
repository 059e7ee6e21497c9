/**
 * The models and presets that a caller can call, as the API lists them. Those that the caller's guardrails
 * rule out, and presets without a model, are left out.
 */
import type { RoutingPolicy } from '../canonical/routing-policy.ts'
import type { ModelResource } from '../contract/model.ts'
import type { PresetVersionResource } from '../contract/preset.ts'
import type { Guardrails } from '../guardrails/guardrails.ts'
import { isObject, listOf } from '../lib/json/json.ts'
import { isAdministrator, isPerson, type Caller } from '../keys/caller.ts'
import type { Principal } from '../keys/principal.ts'
import { modelResource, presetAsModel } from '../models/model-resource.ts'
import { unservedModel, type Models } from '../models/models.ts'
import type { ListedModel } from '../models/select-models.ts'
import type { Presets, ServedPreset } from '../presets/presets.ts'
import { autoStrategy } from '../routing/auto-models.ts'
import { permits } from '../routing/policy.ts'
import { resolveModel } from '../routing/resolve-model.ts'
import type { Model } from '../models/model.ts'

export interface ListedModels {
  /** Models in the order of the catalogue. */
  models(caller: Caller): Promise<readonly Listed[]>
  /** Active presets, which a team chose to offer. */
  presets(caller: Caller): Promise<readonly Listed[]>
  /** One preset, even if the list is too long to contain it; null if there is none. */
  preset(caller: Caller, slug: string): Promise<Listed | null>
}

export interface Listed extends ListedModel {
  readonly resource: ModelResource
}

export const createListedModels = ({
  models,
  presets,
  guardrails,
}: {
  readonly models: Models
  readonly presets: Presets
  readonly guardrails: Pick<Guardrails, 'effective'>
}): ListedModels => {
  // Null for an administrator, who sees all of them.
  const policyOf = async (caller: Caller): Promise<RoutingPolicy | null> =>
    isAdministrator(caller) ? null : ((await guardrails.effective(subjectOf(caller)))?.policy ?? null)
  const asModel = ({ preset, version }: ServedPreset, policy: RoutingPolicy | null): Listed | null => {
    const model = modelsOf(version, models).find((one) => one.endpoints.length === 0 || permits(one, policy, models))
    if (model === undefined) return null
    const { slug, name, description, created_at: createdAt } = preset
    return listed(model, presetAsModel({ slug, name, description, created: Math.floor(Date.parse(createdAt) / 1000) }, model))
  }
  return {
    async models(caller) {
      const policy = await policyOf(caller)
      return models
        .list()
        .filter((model) => permits(model, policy, models))
        .map((model) => listed(model, modelResource(model)))
    },
    async presets(caller) {
      const policy = await policyOf(caller)
      const served = await presets.served(caller.workspaceId)
      return served.flatMap((one) => asModel(one, policy) ?? [])
    },
    async preset(caller, slug) {
      const found = await presets.active(caller.workspaceId, slug)
      return found === null ? null : asModel(found, await policyOf(caller))
    },
  }
}

/** A person may not have a key yet, so the guardrails of the member and the workspace apply. */
const subjectOf = (caller: Caller): Pick<Principal, 'hash' | 'userId' | 'workspaceId'> =>
  isPerson(caller)
    ? { hash: `member ${caller.workspaceId} ${caller.userId}`, userId: caller.userId, workspaceId: caller.workspaceId }
    : caller

const listed = (model: Model, resource: ModelResource): Listed => ({
  id: resource.id,
  name: resource.name,
  created: resource.created,
  model,
  resource,
})

/** The preset's model and its fallbacks, as far as they are served here. An automatic choice of model is only made for each request. */
const modelsOf = ({ config }: PresetVersionResource, models: Models): readonly Model[] =>
  [config['model'], ...listOf(config['models']), ...listOf(config['fallbacks']).map(modelOf)].flatMap((name) => {
    if (typeof name !== 'string') return []
    return autoStrategy(name) === null ? (resolveModel(name, models)?.model ?? []) : unservedModel(name)
  })

const modelOf = (fallback: unknown): unknown => (isObject(fallback) ? fallback['model'] : undefined)
