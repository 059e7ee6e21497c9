/** Which plugins a request asks for, once its preset and the defaults of its workspace are in it (docs/contract/tools.md#plugins). */
import { GatewayError } from '../errors.ts'
import { cutText } from '../lib/cut-text.ts'
import type { JsonBody } from '../lib/json-body.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { PLUGIN_IDS, type PluginId } from './plugin.ts'

/** Options by id, in the order in which plugins work. Those that are switched off are not among them. */
export type AskedPlugins = ReadonlyMap<PluginId, JsonObject>

/** Null where nothing is asked for. Throws `invalid_request` where a plugin is named twice. */
export const askedPlugins = (body: JsonBody): AskedPlugins | null => {
  const named = body.value('plugins')
  if (!Array.isArray(named) || named.length === 0) return null
  const byId = new Map<string, JsonObject>()
  for (const [at, plugin] of named.entries()) {
    if (!isObject(plugin) || typeof plugin['id'] !== 'string') continue
    if (byId.has(plugin['id'])) throw namedTwice(at, plugin['id'])
    byId.set(plugin['id'], plugin as JsonObject)
  }
  const asked = PLUGIN_IDS.flatMap((id) => {
    const options = byId.get(id)
    return options === undefined || options['enabled'] === false ? [] : [[id, options] as const]
  })
  return asked.length === 0 ? null : new Map(asked)
}

const namedTwice = (at: number, id: string): GatewayError => {
  const path = `plugins[${at}].id`
  const message = `The plugin "${cutText(id, 100)}" is named twice.`
  return new GatewayError('invalid_request', `${path}: ${message}`, { metadata: { issues: [{ path, message }] } })
}
