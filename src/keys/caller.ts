import type { Principal } from './principal.ts'

/** A signed-in person acts in one workspace (docs/contract/sign-in.md#roles). */
export interface Person {
  /** An admin may do what a management key of the workspace may; a member sees only what belongs to them. */
  readonly kind: 'admin' | 'member'
  readonly workspaceId: string
  readonly userId: string
  readonly sessionId: string
}

/** `kind` says which of them the caller is, and so what it may do (http/access/policies.ts). */
export type Caller = Principal | Person

export const isPerson = (caller: Caller): caller is Person => caller.kind === 'admin' || caller.kind === 'member'

/** True if the caller manages its workspace. */
export const isAdministrator = ({ kind }: Caller): boolean => kind === 'management' || kind === 'admin'
