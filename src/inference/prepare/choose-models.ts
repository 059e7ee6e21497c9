/** The models that plugins of a request choose in place of those that the request names. */
import type { Call } from '../../canonical/call.ts'
import { ownModelName } from '../../canonical/own-names.ts'
import type { AskedPlugins } from '../../plugins/asked-plugins.ts'
import { FUSION_MODEL } from '../../plugins/fusion.ts'
import { PARETO_MODEL } from '../../plugins/pareto-router.ts'
import type { PluginId } from '../../plugins/plugin.ts'
import type { Plugins } from '../../plugins/plugins.ts'

/** Some model names imply a plugin, whether or not the request names the plugin too. */
export const withImpliedPlugin = (asked: AskedPlugins | null, { models }: Call): AskedPlugins | null => {
  for (const name of models) {
    const id = pluginOfModel(name)
    if (id !== undefined && asked?.has(id) !== true) return new Map([[id, { id }], ...(asked ?? [])])
  }
  return asked
}

/** The plugin that chooses the models if a request names this one. */
export const pluginOfModel = (name: string): PluginId | undefined => PLUGIN_OF_MODEL.get(ownModelName(name))

const PLUGIN_OF_MODEL: ReadonlyMap<string | null, PluginId> = new Map([
  [PARETO_MODEL, 'pareto-router'],
  [FUSION_MODEL, 'fusion'],
])

/** Throws `invalid_request` if a plugin cannot run here, `not_found` if a router finds no model. */
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
