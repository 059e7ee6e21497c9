/** Who calls: a key, or a person who is signed in. */
import type { Principal } from './keys.ts'

/** A person who is signed in acts in one workspace (docs/contract/sign-in.md#roles). */
export interface Person {
  /** An admin may do what a management key of the workspace may; a member sees what is the member's own. */
  readonly kind: 'admin' | 'member'
  readonly workspaceId: string
  readonly userId: string
  readonly sessionId: string
}

/** `kind` says which of them it is, and so what it may do (http/policies.ts). */
export type Caller = Principal | Person

export const isPerson = (caller: Caller): caller is Person => caller.kind === 'admin' || caller.kind === 'member'

/** Manages its workspace. */
export const isAdministrator = ({ kind }: Caller): boolean => kind === 'management' || kind === 'admin'
