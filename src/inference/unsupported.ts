/** What this version accepts and does not do: some plugins. */
import type { Warning } from '../canonical/warning.ts'
import { isObject } from '../lib/json.ts'
import type { JsonBody } from '../lib/json-body.ts'
import { isRouterPlugin } from '../routing/auto-models.ts'

export const unsupported = (body: JsonBody): readonly Warning[] => {
  const plugins = body.value('plugins')
  const warn = (field: string, message: string): Warning => ({ code: 'unsupported_field', field, message })
  return Array.isArray(plugins) && plugins.some(isLeftOut)
    ? [warn('plugins', 'This version does not run all of these plugins; those that it has not were left out.')]
    : []
}

/** Routing heeds the router's wishes, but for its pin: sessions keep a conversation at its model. */
const isLeftOut = (plugin: unknown): boolean =>
  isObject(plugin) &&
  plugin['enabled'] !== false &&
  plugin['id'] !== 'web' &&
  (!isRouterPlugin(plugin['id']) || plugin['pin_model'] === true)
