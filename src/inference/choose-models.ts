/** Whom plugins of a request would have asked, in place of the models that it names. */
import type { Call } from '../canonical/call.ts'
import { ownModelName } from '../canonical/own-names.ts'
import type { AskedPlugins } from '../plugins/asked-plugins.ts'
import { PARETO_MODEL } from '../plugins/pareto-router.ts'
import type { Plugins } from '../plugins/plugins.ts'

/** The model's name asks for its router, whether the request names the plugin or not. */
export const withImpliedRouter = (asked: AskedPlugins | null, { models }: Call): AskedPlugins | null =>
  asked?.has('pareto-router') !== true && models.some((name) => ownModelName(name) === PARETO_MODEL)
    ? new Map([['pareto-router', { id: 'pareto-router' }], ...(asked ?? [])])
    : asked

/** Throws `invalid_request` where a plugin cannot run here, `not_found` where a router finds nobody. */
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
