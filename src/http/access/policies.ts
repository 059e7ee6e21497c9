/** The only table of who may call which routes. A route names its policy, and nothing else decides. */
import { GatewayError, INFERENCE_KEY_REQUIRED, MANAGEMENT_KEY_REQUIRED } from '../../errors.ts'
import type { Caller } from '../../keys/caller.ts'

/**
 * `own` is for what members manage or read of their own: the handler must apply `reach.onlyUserId`. `key` is for what a key reads about
 * itself, `session` for people who are signed in. `public` requires no credential.
 */
export type Policy = 'public' | 'any-key' | 'key' | 'management' | 'own' | 'inference' | 'session'

/** Every kind of caller: two kinds of keys, and people by their role. */
type CallerKind = Caller['kind']

type Rule = Readonly<Record<CallerKind, boolean>>

export const POLICIES: Readonly<Record<Exclude<Policy, 'public'>, Rule>> = {
  'any-key': { management: true, inference: true, admin: true, member: true },
  key: { management: true, inference: true, admin: false, member: false },
  management: { management: true, inference: false, admin: true, member: false },
  own: { management: true, inference: false, admin: true, member: true },
  inference: { management: false, inference: true, admin: true, member: true },
  session: { management: false, inference: false, admin: true, member: true },
}

/** Throws `permission_denied`. */
export const requireAdmitted = ({ kind }: Caller, policy: Exclude<Policy, 'public'>): void => {
  if (!POLICIES[policy][kind]) throw new GatewayError('permission_denied', refusal(kind, policy))
}

const refusal = (kind: CallerKind, policy: Policy): string => {
  if (policy === 'key') return KEY_REQUIRED
  if (kind === 'member') return MEMBER_REFUSED
  if (policy === 'session') return SESSION_REQUIRED
  return policy === 'inference' ? INFERENCE_KEY_REQUIRED : MANAGEMENT_KEY_REQUIRED
}

const MEMBER_REFUSED = 'Only admins of the workspace can perform this operation'
const KEY_REQUIRED = 'Only API keys can perform this operation: it is about the key that asks'
export const SESSION_REQUIRED = 'Only people who are signed in can perform this operation'
