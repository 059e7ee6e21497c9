/** The workspaces in which a caller of the management API may read and write. */
export interface Reach {
  /** The workspace that the caller acts in: the one it names, else its own. */
  readonly workspaceId: string
  /** An object is found by its id alone, in any workspace: the caller is the operator and named no workspace. */
  readonly everywhere: boolean
  /** The caller uses a management key of the default workspace; objects that belong to every workspace count as its own. */
  readonly isOperator: boolean
  /** The caller is this member and sees only the member's own keys and their requests. Null: everything in reach. */
  readonly onlyUserId: string | null
}

/** The only workspace in which an object is looked up by its id; null for all of them. */
export const scopeOf = ({ workspaceId, everywhere }: Reach): string | null => (everywhere ? null : workspaceId)
