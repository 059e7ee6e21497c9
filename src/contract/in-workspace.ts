/** The query parameter that names a workspace. */
import { z } from 'zod'

/** A query parameter: the key's own workspace, or any workspace with a management key of the default workspace. */
export const workspaceIdQuery = z
  .string()
  .max(64)
  .optional()
  .meta({ description: "The workspace to act in; the key's own when absent. Only keys of the default workspace reach others." })

/** Query parameters of a route that supports it; every other route refuses it. */
export const inWorkspace = { workspace_id: workspaceIdQuery }
