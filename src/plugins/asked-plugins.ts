/**
 * The plugins that a request asks for, after its preset and the defaults of its workspace were applied
 * (docs/contract/tools.md#plugins).
 */
import { GatewayError } from '../errors.ts'
import { cutText } from '../lib/text/cut-text.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { isObject, type JsonObject } from '../lib/json/json.ts'
import { PLUGIN_IDS, type PluginId } from './plugin.ts'

/** Options by plugin id, in the order in which plugins run. Disabled plugins are not included. */
export type AskedPlugins = ReadonlyMap<PluginId, JsonObject>

/** Returns null if no plugin is requested. Throws `invalid_request` if a plugin is named twice. */
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
