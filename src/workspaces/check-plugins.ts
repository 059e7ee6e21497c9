/** Checks a workspace's plugins before they are stored, since a fault in them would affect every request of its keys. */
import type { WorkspaceSettings } from '../contract/workspace-settings.ts'
import { inSentences } from '../contract/issue-sentence.ts'
import { faultsOf, invalidRequest, pathText } from '../contract/validate.ts'
import { PLUGINS } from '../request-fields/schemas/plugins.ts'

/** Throws `invalid_request`, which names every fault. */
export const checkPlugins = (plugins: WorkspaceSettings['plugins'] | undefined): void => {
  const faults = (plugins ?? []).flatMap(({ locked: _locked, ...plugin }, at) => {
    const { id } = plugin
    const shape = PLUGINS.find((one) => one.shape.id.value === id)
    if (shape === undefined) return [{ path: `plugins[${at}].id`, message: 'There is no plugin of this id.' }]
    if ((plugins ?? []).findIndex((one) => one['id'] === id) < at)
      return [{ path: `plugins[${at}].id`, message: 'The plugin is named twice.' }]
    const { error } = shape.safeParse(plugin, inSentences)
    const issues = (error?.issues ?? []).flatMap((issue) => faultsOf(shape, plugin, issue))
    return issues.map(({ path, message }) => ({ path: pathText(['plugins', at, ...path]), message }))
  })
  if (faults.length > 0) throw invalidRequest(faults)
}
