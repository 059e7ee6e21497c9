/**
 * The key with which the secrets of all presets are sealed. It is created once for each database and stored there, itself sealed with a key
 * derived from the root secret. Versions of presets never change, so a rotation only seals this one key again.
 */
import type { IdSource } from '../lib/id.ts'
import { openBytes, SEAL_KEY_BYTES, sealBytes } from '../lib/sealed-bytes.ts'
import type { FactStore } from '../storage/service/fact-store.ts'
import type { ByteSeal, TextSeal } from '../storage/rows/seal.ts'

/** Derived from a root secret; the id stored with a sealed text names the key that sealed it. */
interface SealingKey {
  readonly id: string
  readonly bytes: Uint8Array
}

/** All valid keys, with that of the root secret in use first. */
type SealingKeys = readonly [SealingKey, ...SealingKey[]]

const FACT = 'preset-key'
const KEY_CONTEXT = Buffer.from('preset-key')

/** Creates the key if there is none. Throws if none of the given keys can open it. */
export const openPresetSeal = async (facts: FactStore, keys: SealingKeys, ids: Pick<IdSource, 'bytes'>): Promise<TextSeal & ByteSeal> => {
  const key = unwrap(await establish(facts, keys[0], ids), keys)
  return {
    seal: (text, context) => sealBytes(Buffer.from(text, 'utf8'), key, Buffer.from(context), ids),
    open: (sealed, context) => Buffer.from(openBytes(sealed, key, Buffer.from(context))).toString('utf8'),
    sealBytes: (bytes, context) => sealBytes(bytes, key, Buffer.from(context), ids),
    openBytes: (sealed, context) => openBytes(sealed, key, Buffer.from(context)),
  }
}

/**
 * Seals the key with the first of the given keys, unless it already is. Creates the key if there is none, so that no one can create it
 * under another secret.
 */
export const rewrapPresetKey = async (facts: FactStore, keys: SealingKeys, ids: Pick<IdSource, 'bytes'>): Promise<void> => {
  const stored = await establish(facts, keys[0], ids)
  if (!isUnder(stored, keys[0])) await facts.replace(FACT, wrap(unwrap(stored, keys), keys[0], ids))
}

/** True if nothing is left to be sealed again with this root secret. */
export const presetKeyFollows = async (facts: FactStore, key: Pick<SealingKey, 'id'>): Promise<boolean> => {
  const stored = await facts.read(FACT)
  return stored === null || isUnder(stored, key)
}

const establish = async (facts: FactStore, key: SealingKey, ids: Pick<IdSource, 'bytes'>): Promise<string> =>
  (await facts.read(FACT)) ?? (await facts.establish(FACT, wrap(ids.bytes(SEAL_KEY_BYTES), key, ids))).value

/** The id of the sealing key, followed by the sealed key. */
const wrap = (key: Uint8Array, under: SealingKey, ids: Pick<IdSource, 'bytes'>): string =>
  `${under.id}:${sealBytes(key, under.bytes, KEY_CONTEXT, ids)}`

const unwrap = (stored: string, keys: SealingKeys): Uint8Array => {
  const under = keys.find((key) => isUnder(stored, key))
  if (under === undefined) {
    throw new Error('The key of the presets does not open: the root secret that sealed it is not here.')
  }
  return openBytes(stored.slice(under.id.length + 1), under.bytes, KEY_CONTEXT)
}

const isUnder = (stored: string, { id }: Pick<SealingKey, 'id'>): boolean => stored.startsWith(`${id}:`)
