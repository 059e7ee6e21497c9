import { SettingError } from '../config.ts'
import type { Database } from '../storage/database.ts'
import { createWorkspaceStore } from '../storage/workspaces/workspace-store.ts'

/** The id of the workspace that a flag names by id or slug. Throws SettingError. */
export const namedWorkspace = async (database: Database, ref: string): Promise<string> => {
  const found = await createWorkspaceStore(database).get(ref)
  if (found === null) throw new SettingError(`there is no workspace ${JSON.stringify(ref)}.`)
  return found.id
}
