/** Adds the plugins of a workspace to the requests of its keys: those that a request does not name, and those that it may not change. */
import type { Warning } from '../../canonical/warning.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import type { WorkspaceDefaults } from '../../workspaces/workspaces.ts'

export interface WithPlugins {
  readonly body: JsonBody
  /** One for each locked plugin that the request names with other options. */
  readonly warnings: readonly Warning[]
}

export const withWorkspacePlugins = (body: JsonBody, defaults: WorkspaceDefaults['plugins']): WithPlugins => {
  const named = body.value('plugins') ?? []
  // A value that is not a list is an error, which the reader of the request reports.
  if (defaults === null || !Array.isArray(named)) return { body, warnings: [] }
  const warnings: Warning[] = []
  const merged: unknown[] = [...named]
  for (const { locked, ...plugin } of defaults) {
    const at = merged.findIndex((one) => isObject(one) && one['id'] === plugin['id'])
    if (at < 0) merged.push(plugin)
    else if (locked === true) {
      if (!says(merged[at], plugin)) warnings.push(lockedPlugin(at, plugin['id']))
      merged[at] = plugin
    }
  }
  return { body: body.with({ plugins: JSON.stringify(merged) }), warnings }
}

/** True if the request asks for nothing but what the workspace's plugin says. */
const says = (asked: unknown, plugin: JsonObject): boolean =>
  isObject(asked) &&
  Object.entries(asked).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(plugin[name] ?? (name === 'enabled' ? true : null)),
  )

const lockedPlugin = (at: number, id: unknown): Warning => ({
  code: 'locked_field',
  field: `plugins[${at}]`,
  message: `The workspace locks the plugin ${JSON.stringify(id)}; its own options were kept.`,
})
