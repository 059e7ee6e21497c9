/** The models that plugins of a request would have asked, in place of those that it names. */
import type { Call } from '../canonical/call.ts'
import { ownModelName } from '../canonical/own-names.ts'
import type { AskedPlugins } from '../plugins/asked-plugins.ts'
import { FUSION_MODEL } from '../plugins/fusion.ts'
import { PARETO_MODEL } from '../plugins/pareto-router.ts'
import type { PluginId } from '../plugins/plugin.ts'
import type { Plugins } from '../plugins/plugins.ts'

/** The model's name asks for its plugin, whether the request names that or not. */
export const withImpliedPlugin = (asked: AskedPlugins | null, { models }: Call): AskedPlugins | null => {
  for (const name of models) {
    const id = PLUGIN_OF_MODEL.get(ownModelName(name))
    if (id !== undefined && asked?.has(id) !== true) return new Map([[id, { id }], ...(asked ?? [])])
  }
  return asked
}

const PLUGIN_OF_MODEL: ReadonlyMap<string | null, PluginId> = new Map([
  [PARETO_MODEL, 'pareto-router'],
  [FUSION_MODEL, 'fusion'],
])

/** Throws `invalid_request` where a plugin cannot run here, `not_found` where a router finds no model. */
export const chooseModels = (call: Call, asked: AskedPlugins, plugins: Plugins): Call => {
  let chosen = call
  for (const [id, options] of asked) {
    const { check, choose } = plugins[id]
    check?.(options)
    const models = choose?.(chosen, options) ?? null
    if (models !== null) chosen = { ...chosen, models }
  }
  return chosen
}
