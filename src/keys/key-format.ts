/**
 * API keys: `pb_mgmt_` or `pb_inf_`, 43 base62 characters (256 random bits) and six more that are a checksum of everything before them
 * (docs/contract/keys-and-workspaces.md#form-of-a-key). The checksum adds no security: it rejects random strings before any look-up.
 */
import { createHmac } from 'node:crypto'

import { crc32 } from '../lib/crc32.ts'
import { BASE62, type IdSource } from '../lib/id.ts'

export const KEY_KINDS = ['management', 'inference'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

const PREFIX: Readonly<Record<KeyKind, string>> = { management: 'pb_mgmt_', inference: 'pb_inf_' }
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const SHAPE = /^pb_(?:mgmt|inf)_[0-9A-Za-z]{49}$/

export const makeKey = (kind: KeyKind, ids: IdSource): string => {
  const body = PREFIX[kind] + base62(ids.bytes(32), SECRET_LENGTH)
  return body + checksum(body)
}

/** True for a string that this service could have made, even if it did not. */
export const looksLikeKey = (token: string): boolean =>
  SHAPE.test(token) && checksum(token.slice(0, -CHECKSUM_LENGTH)) === token.slice(-CHECKSUM_LENGTH)

/** The part of a key that people see: its kind and its last four characters. */
export const keyLabel = (key: string): string => `${key.slice(0, key.indexOf('_', 3) + 1)}…${key.slice(-4)}`

/** The key as stored, and its id in the API: 64 lowercase hex digits. */
export const keyDigest = (key: string, pepper: Uint8Array): string => createHmac('sha256', pepper).update(key).digest('hex')

/** Uses plain numbers, because it is computed for every request. */
const checksum = (text: string): string => {
  let number = crc32(text)
  let digits = ''
  for (; digits.length < CHECKSUM_LENGTH; number = Math.floor(number / 62)) digits = (BASE62[number % 62] ?? '') + digits
  return digits
}

/** The bytes as one big-endian number in base 62, padded with zeros on the left. */
const base62 = (bytes: Uint8Array, length: number): string => {
  let number = 0n
  for (const byte of bytes) number = (number << 8n) | BigInt(byte)
  let text = ''
  for (; text.length < length; number /= 62n) text = (BASE62[Number(number % 62n)] ?? '') + text
  return text
}
