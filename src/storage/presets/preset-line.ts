/**
 * Each change of a preset locks its row until it ends: without this queue, forty changes of one preset at once
 * would occupy every connection, nine of them only waiting.
 */
import type { Database } from '../database.ts'
import type { PresetRef } from './preset-ref.ts'

export const inPresetLine = <T>(database: Database, { workspaceId, slug }: PresetRef, change: () => Promise<T>): Promise<T> =>
  database.inLine(`preset ${workspaceId} ${slug}`, change)
