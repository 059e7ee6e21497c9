/** Secrets of sign-in: shown once, and stored as their HMACs (docs/contract/sign-in.md#two-halves). */
import { createHmac, timingSafeEqual } from 'node:crypto'

import type { Pepper } from '../keys/keys.ts'
import type { IdSource } from '../lib/id.ts'

/** The peppers that are valid now: secrets are stored under the first and found under any. */
export type Peppers = () => readonly [Pepper, ...Pepper[]]

/** The length of secrets in cookies and links. */
export const TOKEN_BYTES = 32

export const newSecret = (bytes: number, ids: Pick<IdSource, 'bytes'>): string => Buffer.from(ids.bytes(bytes)).toString('base64url')

/** False for a string that does not have the form of our tokens. */
export const looksLikeToken = (token: string): boolean => /^[\w-]{43}$/.test(token)

/** The first digest is the one to store. */
export const digestsOf = (secret: string, peppers: Peppers): readonly [string, ...string[]] => {
  const [current, ...older] = peppers()
  return [digest(secret, current), ...older.map((pepper) => digest(secret, pepper))]
}

/** Compares in a time that says nothing about the texts, which may hold anything. */
export const isSameSecret = (one: string, other: string): boolean => {
  const left = Buffer.from(one)
  const right = Buffer.from(other)
  return left.byteLength === right.byteLength && timingSafeEqual(left, right)
}

const digest = (secret: string, { bytes }: Pepper): string => createHmac('sha256', bytes).update(secret).digest('hex')
