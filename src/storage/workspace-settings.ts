import { DEFAULT_SETTINGS, storedSettings, type WorkspaceSettings } from '../contract/workspace.ts'
import { definedOnly } from '../lib/defined-only.ts'

/** What the column `settings` of a workspace says, and the defaults for what it does not. */
export const readSettings = (stored: string): WorkspaceSettings => ({
  ...DEFAULT_SETTINGS,
  ...definedOnly(storedSettings.parse(JSON.parse(stored))),
})
