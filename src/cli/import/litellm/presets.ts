/** A preset for each public name, and for each alias of one. */
import { isObject, type JsonObject, type JsonValue, membersOf } from '../../../lib/json/json.ts'
import type { Place, PlannedPreset } from '../import-plan.ts'
import { wordIn } from '../members.ts'
import { uniqueSlug } from '../names.ts'
import { AWS_KEY, PRICES } from './deployment.ts'
import { type Groups, idOf } from './groups.ts'
import { fallbacksOf } from './fallbacks.ts'

/** Parameters of a deployment that a preset keeps under the same name. */
const SETTINGS = [
  'temperature',
  'top_p',
  'max_tokens',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'stop',
  'response_format',
  'reasoning_effort',
  'tools',
  'tool_choice',
] as const

/** Parameters that identify the deployment, or that were reported already. */
const NAMING: ReadonlySet<string> = new Set([
  'model',
  'api_key',
  'api_base',
  'base_url',
  'api_version',
  'custom_llm_provider',
  'litellm_credential_name',
  'aws_region_name',
  ...AWS_KEY,
  ...Object.values(PRICES),
  ...SETTINGS,
])

export const presetsOf = (groups: Groups, config: JsonObject, root: Place): readonly PlannedPreset[] => {
  const router = membersOf(config['router_settings'])
  const fallbacks = fallbacksOf(config, groups, root)
  for (const [alias, target] of Object.entries(membersOf(router['model_group_alias']))) {
    const named = wordIn(isObject(target) ? target['model'] : target)
    if (!groups.has(named))
      root.at('router_settings', 'model_group_alias', alias).cannot(`${JSON.stringify(named)} is no model of this file`)
  }
  const sort = SORTS[wordIn(router['routing_strategy'])]
  const presets: PlannedPreset[] = []
  const slugs = new Set([...groups.values()].map(({ slug }) => slug))
  for (const [name, group] of groups) {
    const { deployments, slug } = group
    const [first] = deployments
    if (first === undefined) continue
    const settings = Object.fromEntries(
      SETTINGS.flatMap((field): [string, JsonValue][] => (first.params[field] == null ? [] : [[field, first.params[field] ?? null]])),
    )
    for (const { params, place } of deployments) {
      for (const field of Object.keys(params))
        if (!NAMING.has(field))
          place.at('litellm_params', field).cannot(DEPLOYMENT_SAID[field] ?? `${field} of a deployment has no counterpart`)
      if (params !== first.params && SETTINGS.some((field) => JSON.stringify(params[field]) !== JSON.stringify(first.params[field])))
        place.changed(`settings of the first deployment of ${name} hold for all`)
    }
    const id = idOf(group)
    if (deployments.some(({ isEmbedding }) => isEmbedding)) {
      first.place.changed(`${name}: a preset makes no embeddings; clients ask for the model ${id}`)
      continue
    }
    if (slug !== name) first.place.changed(`${name} is no name of a preset: clients ask for @preset/${slug}`)
    first.place.taken(`${name}: preset ${slug} for ${id}${deployments.length > 1 ? ` with ${deployments.length} providers` : ''}`)
    const models = fallbacks.get(name) ?? []
    const version = {
      shape: 'chat',
      systemPrompt: null,
      config: {
        model: id,
        ...(models.length === 0 ? {} : { models: [...models] }),
        ...(sort === undefined ? {} : { provider: { sort } }),
        ...settings,
      },
    } as const
    presets.push({ slug, versions: [version] })
    for (const [alias, target] of Object.entries(membersOf(router['model_group_alias'])))
      if (target === name || (isObject(target) && target['model'] === name)) {
        root.at('router_settings', 'model_group_alias', alias).taken(`${alias}: a preset with what ${name} has`)
        presets.push({ slug: uniqueSlug(alias, slugs), versions: [version] })
      }
  }
  return presets
}

/** Sentences that say what to do instead. */
const DEPLOYMENT_SAID: Readonly<Record<string, string>> = {
  rpm: 'rpm: requests are limited by key (rpm_limit), not by deployment',
  tpm: 'tpm: tokens are limited by key (tpm_limit), not by deployment',
  weight: 'weight: providers of a model are balanced by price; an order is provider.order of the preset',
  order: 'order: the order of providers is provider.order of the preset',
  timeout: 'timeout: time limits are those of the service, timeouts of your patchbay.yaml',
  stream_timeout: 'stream_timeout: time limits are those of the service, timeouts of your patchbay.yaml',
  max_budget: 'max_budget: budgets are those of keys, workspaces and guardrails',
  budget_duration: 'budget_duration: budgets are those of keys, workspaces and guardrails',
  aws_role_name: 'aws_role_name: Bedrock is asked with an API key or an AWS key pair',
  aws_profile_name: 'aws_profile_name: Bedrock is asked with an API key or an AWS key pair',
}

const SORTS: Readonly<Record<string, string>> = { 'latency-based-routing': 'latency', 'cost-based-routing': 'price' }
