/** Each change of a preset locks its row to its end: forty of one preset at once would hold every connection, and nine would wait. */
import type { Database } from './database.ts'

export const inPresetLine = <T>(
  database: Database,
  { workspaceId, slug }: { readonly workspaceId: string; readonly slug: string },
  change: () => Promise<T>,
): Promise<T> => database.inLine(`preset ${workspaceId} ${slug}`, change)
