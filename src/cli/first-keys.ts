/** The two keys of the very first start, which are shown once, and the operator's sign-in link. */
import type { Service } from '../compose/service.ts'
import { LINK_SECONDS } from '../contract/sign-in.ts'
import { UNBOUNDED, type MadeKey } from '../keys/keys.ts'
import { loginUrl } from '../sign-in/login-links.ts'
import { fromShell } from './from-shell.ts'
import type { FirstKeys } from './greeting.ts'

export interface MadeFirstKeys extends FirstKeys {
  readonly hashes: readonly string[]
}

/** `place` is where people sign in; null if they cannot. */
export const makeFirstKeys = async ({ keys, owner, links }: Service, place: string | null): Promise<MadeFirstKeys> => {
  const make = (kind: 'management' | 'inference'): Promise<MadeKey> =>
    keys.create(
      {
        kind,
        name: `First ${kind} key`,
        workspaceId: owner.workspaceId,
        creatorUserId: owner.userId,
        ...UNBOUNDED,
      },
      fromShell(owner.userId),
    )
  const management = await make('management')
  const inference = await make('inference')
  const link =
    place === null
      ? null
      : loginUrl(place, (await links.make({ ...owner, role: 'admin', expiresInSeconds: LINK_SECONDS }, fromShell(owner.userId))).token)
  return { management: management.key, inference: inference.key, link, hashes: [management.record.hash, inference.record.hash] }
}

/** Nobody saw the first keys, so they are revoked, and the next start makes others. */
export const takeBackFirstKeys = async ({ keys, owner, log, forgetFirstStart }: Service, shown: MadeFirstKeys | null): Promise<void> => {
  if (shown === null) return
  log.warn({}, 'nobody reads the standard output: the first keys are taken back, and the next start makes others')
  for (const hash of shown.hashes) await keys.revoke(null, hash, fromShell(owner.userId))
  await forgetFirstStart()
}
