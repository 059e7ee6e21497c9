/** Authenticated encryption (AES-256-GCM): sealed bytes do not open if they were changed, or with another key or another context. */
import { createCipheriv, createDecipheriv } from 'node:crypto'

import type { IdSource } from './id.ts'

export const SEAL_KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/** Base64 of the initialisation vector, the authentication tag and the ciphertext. `context` says what the bytes are sealed as. */
export const sealBytes = (plain: Uint8Array, key: Uint8Array, context: Uint8Array, ids: Pick<IdSource, 'bytes'>): string => {
  const iv = ids.bytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(context)
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')
}

/** Throws if the bytes do not open. */
export const openBytes = (sealed: string, key: Uint8Array, context: Uint8Array): Uint8Array => {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(context)
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
}
