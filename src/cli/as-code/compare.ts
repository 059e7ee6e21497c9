/** Compares the file, the service and their last common state. */
import type { Environment } from '../../config.ts'
import { isSame, type Document } from './document.ts'
import type { Kind, RemoteObject } from './kind.ts'
import type { LocalObject } from './working-copy.ts'

/**
 * `same`: nothing to do. `edited`: only the file changed. `drifted`: only the service changed. `conflict`: both changed, differently. An
 * object that no longer exists on one side counts as changed there.
 */
export type Standing = 'same' | 'edited' | 'drifted' | 'conflict'

export interface Compared {
  readonly kind: Kind
  readonly identity: string
  readonly local: LocalObject | undefined
  readonly remote: RemoteObject | undefined
  readonly base: Document | null
  readonly standing: Standing
}

export const baseKey = (kind: Pick<Kind, 'name'>, identity: string): string => `${kind.name}/${identity}`

/** In the order of their names. */
export const compareAll = (
  kind: Kind,
  locals: ReadonlyMap<string, LocalObject>,
  remotes: readonly RemoteObject[],
  bases: ReadonlyMap<string, Document>,
  env: Environment,
): readonly Compared[] => {
  const served = new Map(remotes.map((remote) => [remote.identity, remote]))
  const known = [...bases.keys()].filter((key) => key.startsWith(`${kind.name}/`)).map((key) => key.slice(kind.name.length + 1))
  return [...new Set([...locals.keys(), ...served.keys(), ...known])].sort().map((identity) => {
    const local = locals.get(identity)
    const found = served.get(identity)
    const asInFile = (document: Document): Document =>
      local === undefined ? document : (kind.withReferences?.(document, local.document, found, env) ?? document)
    const common = bases.get(baseKey(kind, identity))
    const base = common === undefined ? null : asInFile(common)
    const remote = found === undefined ? undefined : { ...found, document: asInFile(found.document) }
    return { kind, identity, local, remote, base, standing: standingOf(local?.document ?? null, remote?.document ?? null, base) }
  })
}

const standingOf = (local: Document | null, remote: Document | null, base: Document | null): Standing => {
  if (isSame(local, remote)) return 'same'
  if (isSame(remote, base)) return 'edited'
  return isSame(local, base) ? 'drifted' : 'conflict'
}
