import { DEFAULT_SETTINGS, storedSettings, type WorkspaceSettings } from '../../contract/workspace-settings.ts'
import { definedOnly } from '../../lib/defined-only.ts'
import { readStoredJson } from '../rows/damaged-row.ts'

/** The settings in the column `settings` of a workspace, with defaults for those that it does not have. */
export const readSettings = (workspaceId: string, stored: string): WorkspaceSettings => ({
  ...DEFAULT_SETTINGS,
  ...definedOnly(readStoredJson('workspaces', workspaceId, storedSettings, stored)),
})
