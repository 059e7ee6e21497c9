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

/** Random bytes are drawn in blocks, because one system call for each id would cost more than the id. */
const POOL_BYTES = 4096
let pool = new Uint8Array(0)
let poolOffset = 0

const randomByte = (): number => {
  if (poolOffset >= pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES))
    poolOffset = 0
  }
  return pool[poolOffset++] ?? 0
}

/** Unbiased: a byte of 248 (4 × 62) or more is drawn again. */
export const randomBase62 = (length: number): string => {
  let text = ''
  while (text.length < length) {
    const byte = randomByte()
    if (byte < 248) text += BASE62[byte % 62]
  }
  return text
}

/** In [0, 1), with 32 random bits: for random choices. */
export const randomFraction = (): number => (((randomByte() * 256 + randomByte()) * 256 + randomByte()) * 256 + randomByte()) / 2 ** 32

export const systemIds: IdSource = {
  uuid: () => crypto.randomUUID(),
  prefixed: (prefix) => `${prefix}-${randomBase62(24)}`,
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
}
