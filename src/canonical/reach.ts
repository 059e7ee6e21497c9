/** The workspaces in which a caller of the management API may look and act. */
export interface Reach {
  /** The workspace that it acts in: the one that it names, else its own. */
  readonly workspaceId: string
  /** An object is found by its id alone, in whatever workspace: the caller is the operator, and names no workspace. */
  readonly everywhere: boolean
  /** A management key of the default workspace: what belongs to every workspace is its own. */
  readonly isOperator: boolean
  /** The caller is this member, and sees what belongs to the member alone: own keys, and what was asked with them. Null: all that is there. */
  readonly onlyUserId: string | null
}

/** The only workspace in which an object is looked for by its id; null: in all of them. */
export const scopeOf = ({ workspaceId, everywhere }: Reach): string | null => (everywhere ? null : workspaceId)
