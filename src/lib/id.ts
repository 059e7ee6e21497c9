/** The only source of randomness. All other code is passed an IdSource, so that tests can predict ids. */
export interface IdSource {
  /** A UUID, version 4. */
  uuid(): string
  /** `prefix-` and 24 base62 characters (142 random bits): generation, message and tool-call ids. */
  prefixed(prefix: string): string
  /** Cryptographically random bytes. */
  bytes(length: number): Uint8Array
}

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random digits are drawn in blocks, because one system call for each id would cost more than the id. */
const BLOCK_BYTES = 4096
let digits = Buffer.alloc(0)
let used = 0

export const randomBase62 = (length: number): string => {
  if (used === digits.length) {
    digits = drawDigits()
    used = 0
  }
  const text = digits.toString('latin1', used, Math.min(used + length, digits.length))
  used += text.length
  return text.length === length ? text : text + randomBase62(length - text.length)
}

/** Unbiased: a byte of 248 (4 × 62) or more is no digit. */
const drawDigits = (): Buffer<ArrayBuffer> => {
  const drawn = crypto.getRandomValues(Buffer.alloc(BLOCK_BYTES)).filter((byte) => byte < 248)
  return Buffer.from(drawn.map((byte) => BASE62.charCodeAt(byte % 62)))
}

/** In [0, 1), with 32 random bits: for random choices. */
export const randomFraction = (): number => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32

export const systemIds: IdSource = {
  uuid: () => crypto.randomUUID(),
  prefixed: (prefix) => `${prefix}-${randomBase62(24)}`,
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
}
