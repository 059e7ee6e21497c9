/**
 * Encrypts secrets of customers at rest (docs/contract/keys-and-workspaces.md#sealing): each version has a data key of its own,
 * AES-256-GCM, which is itself sealed under a key derived from the root secret. A rotation reseals the data keys and leaves the secrets
 * alone.
 */
import type { IdSource } from '../lib/id.ts'
import { openBytes, SEAL_KEY_BYTES, sealBytes } from '../lib/sealed-bytes.ts'

/** A key-encryption key of one root secret. Its id names the key that sealed a text. */
export interface SealingKey {
  readonly id: string
  readonly bytes: Uint8Array
}

/** The secret and its data key, in base64. */
export interface Sealed {
  readonly sealedSecret: string
  readonly wrappedDataKey: string
  readonly kekId: string
}

/** Identifies what a secret was sealed for: moved to another row, workspace, provider or version, it cannot be unsealed. */
export interface SealContext {
  readonly workspaceId: string | null
  readonly credentialId: string
  readonly provider: string
  /** The address of the provider: the secret cannot be unsealed for another one. It is not part of what seals the data key. */
  readonly origin: string
  readonly version: number
}

/**
 * A secret cannot be unsealed: it was changed, or moved, or sealed under a root secret that is not available. The message contains no
 * secret.
 */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
}

export const seal = (secret: string, context: SealContext, key: SealingKey, ids: IdSource): Sealed => {
  const dataKey = ids.bytes(SEAL_KEY_BYTES)
  return {
    sealedSecret: sealBytes(Buffer.from(secret, 'utf8'), dataKey, purposeText(context, 'secret'), ids),
    wrappedDataKey: sealBytes(dataKey, key.bytes, purposeText(context, 'data-key'), ids),
    kekId: key.id,
  }
}

/** Throws SealBroken. `keys`: all that are currently valid. */
export const unseal = (sealed: Sealed, context: SealContext, keys: readonly SealingKey[]): string =>
  orBroken(context, () =>
    Buffer.from(openBytes(sealed.sealedSecret, dataKeyOf(sealed, context, keys), purposeText(context, 'secret'))).toString('utf8'),
  )

/** Returns the same secret with its data key sealed under the first of the keys. Throws SealBroken. */
export const rewrap = (sealed: Sealed, context: SealContext, keys: readonly [SealingKey, ...SealingKey[]], ids: IdSource): Sealed =>
  orBroken(context, () => ({
    ...sealed,
    wrappedDataKey: sealBytes(dataKeyOf(sealed, context, keys), keys[0].bytes, purposeText(context, 'data-key'), ids),
    kekId: keys[0].id,
  }))

const dataKeyOf = ({ wrappedDataKey, kekId }: Sealed, context: SealContext, keys: readonly SealingKey[]): Uint8Array => {
  const key = keys.find(({ id }) => id === kekId)
  if (key === undefined) throw new SealBroken('unknown key')
  return openBytes(wrappedDataKey, key.bytes, purposeText(context, 'data-key'))
}

const purposeText = (context: SealContext, purpose: 'secret' | 'data-key'): Uint8Array => {
  const { workspaceId, credentialId, provider, version, origin } = context
  return Buffer.from(JSON.stringify([workspaceId, credentialId, provider, version, purpose, ...(purpose === 'secret' ? [origin] : [])]))
}

const orBroken = <Value>({ credentialId, provider }: SealContext, work: () => Value): Value => {
  try {
    return work()
  } catch (cause) {
    throw new SealBroken(
      `The stored key ${credentialId} of ${provider} does not open: the root secret that sealed it is not here, or the row was changed. Enter it anew with PATCH /byok/${credentialId}.`,
      { cause },
    )
  }
}
