/** LiteLLM's public names, each with its deployments. */
import { type JsonObject, membersOf, objectsIn } from '../../../lib/json/json.ts'
import type { Place } from '../import-plan.ts'
import { wordIn } from '../members.ts'
import { isServed, modelIdOf, uniqueSlug } from '../names.ts'
import { type Deployment, deploymentOf, ownBaseOf, usualProviders } from './deployment.ts'
import { wordSet } from '../../../lib/text/word-set.ts'

/** One of LiteLLM's public names. */
export interface Group {
  /** The name of the preset, which no other group has. */
  readonly slug: string
  readonly deployments: Deployment[]
}

export type Groups = ReadonlyMap<string, Group>

interface Listed {
  readonly groups: Groups
  /** Providers all of whose models are asked for by their names. */
  readonly open: readonly Deployment[]
}

export const listedIn = (config: JsonObject, root: Place): Listed => {
  const groups = new Map<string, Group>()
  const open: Deployment[] = []
  const slugs = new Set<string>()
  const credentials = credentialsIn(config, root.at('credential_list'))
  const entries = objectsIn(config['model_list']).map((entry) => ({
    entry,
    params: withCredential(membersOf(entry['litellm_params']), credentials),
  }))
  const places = { places: new Map<string, string>(), usual: usualProviders(entries.map(({ params }) => params)) }
  for (const [at, { entry, params }] of entries.entries()) {
    const place = root.at('model_list', at)
    const name = entry['model_name']
    if (typeof name !== 'string' || typeof params['model'] !== 'string') {
      place.cannot('needs model_name and litellm_params.model')
      continue
    }
    const info = membersOf(entry['model_info'])
    const mode = wordIn(info['mode'] ?? '')
    if (mode !== '' && !MODES.has(mode)) {
      place.at('model_info', 'mode').cannot(`${name}: ${mode} is not served here`)
      continue
    }
    if (params['model'] === '*' && ownBaseOf(params) === null) {
      place.changed(`${name}: every model of an enabled provider answers to its id; no entry is needed`)
      continue
    }
    const deployment = deploymentOf(params, info, place, places)
    if (deployment === null) continue
    reportInfo(name, info, place.at('model_info'))
    if (name.includes('*')) {
      open.push(deployment)
      place.changed(
        `${name}: every model of ${deployment.provider} answers to ${deployment.provider}/NAME; one that the catalogue lacks has no price`,
      )
      continue
    }
    const group = groups.get(name) ?? { slug: uniqueSlug(name, slugs), deployments: [] }
    group.deployments.push(deployment)
    groups.set(name, group)
  }
  return { groups, open }
}

/** The values of each name in `credential_list`. */
const credentialsIn = (config: JsonObject, place: Place): ReadonlyMap<string, JsonObject> =>
  new Map(
    objectsIn(config['credential_list']).map((entry, at) => {
      const name = wordIn(entry['credential_name'])
      place.at(at).taken(`the credential ${name} goes to the deployments that name it`)
      return [name, membersOf(entry['credential_values'])]
    }),
  )

const withCredential = (params: JsonObject, credentials: ReadonlyMap<string, JsonObject>): JsonObject => ({
  ...credentials.get(wordIn(params['litellm_credential_name'])),
  ...params,
})

const INFO_READ: ReadonlySet<string> = wordSet(`
  mode id base_model input_cost_per_token output_cost_per_token cache_read_input_token_cost
  cache_creation_input_token_cost
`)

const reportInfo = (name: string, info: JsonObject, place: Place): void => {
  if (info['access_groups'] !== undefined)
    place.at('access_groups').cannot(`${name}: who may use a model is a guardrail here: allowed_models`)
  const rest = Object.keys(info).filter((member) => !INFO_READ.has(member) && member !== 'access_groups')
  if (rest.length > 0) place.cannot(`${name}: what a model supports is in the catalogue or in your file, not ${rest.join(', ')}`)
}

/** Modes of models that are reached by a preset, and `embedding`, which is reached by the id of the model. */
const MODES: ReadonlySet<string> = new Set(['chat', 'completion', 'responses', 'embedding'])

/** The id under which a public name is served here. */
export const idOf = ({ slug, deployments }: Group): string => {
  const [only] = deployments
  const own = `litellm/${slug}`
  if (deployments.length !== 1 || only === undefined || !only.isCatalogues || only.prices !== null) return own
  const id = modelIdOf(only.provider, only.upstreamModel)
  return isServed(only.provider, id) ? id : own
}
