/** The operator's file: providers, models of several deployments, and the time limit. */
import { type JsonObject, type JsonValue, membersOf } from '../../../lib/json/json.ts'
import type { Place } from '../import-plan.ts'
import { anyModelOf, isServed, modelIdOf } from '../names.ts'
import { type Deployment, variableText } from './deployment.ts'
import { type Groups, idOf } from './groups.ts'

export const fileOf = (groups: Groups, open: readonly Deployment[], config: JsonObject, root: Place): JsonObject => {
  const providers: Record<string, JsonValue> = {}
  const models: Record<string, JsonValue> = {}
  for (const { provider, providerEntry } of [...groups.values()].flatMap(({ deployments }) => deployments))
    if (providerEntry !== null) providers[provider] = providerEntry
  for (const { provider, providerEntry } of open) {
    const any = anyModelOf(provider)
    // An entry of the file enables a provider even if its variable is not set.
    const entry = providerEntry ?? (Object.keys(any).length === 0 ? null : { api_key: variableText(provider) })
    if (entry !== null) providers[provider] = { ...entry, ...any }
  }
  for (const group of groups.values()) {
    const { deployments } = group
    const id = idOf(group)
    if (!id.startsWith('litellm/')) continue
    for (const { provider, upstreamModel, prices, place } of deployments)
      if (prices === null && !isServed(provider, modelIdOf(provider, upstreamModel)))
        place
          .at('litellm_params', 'model')
          .changed(`the price of ${upstreamModel} at ${provider} is not known: add prices to its endpoint of ${id} in your file`)
    models[id] = {
      endpoints: deployments.map(({ provider, upstreamModel, prices }) => ({
        provider,
        model: upstreamModel,
        ...(prices === null ? {} : { prices }),
      })),
    }
  }
  const timeout = membersOf(config['litellm_settings'])['request_timeout'] ?? membersOf(config['router_settings'])['timeout']
  if (timeout !== undefined)
    root.at('litellm_settings', 'request_timeout').changed('the time limit is that of a whole request, all its attempts together')
  return {
    ...(Object.keys(providers).length === 0 ? {} : { providers }),
    ...(Object.keys(models).length === 0 ? {} : { models }),
    ...(typeof timeout === 'number' && timeout > 0 ? { timeouts: { total: timeout } } : {}),
  }
}
