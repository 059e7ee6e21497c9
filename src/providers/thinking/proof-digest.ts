/** A proof may be long, and is only compared: this much of its SHA-256 is enough. */
import { createHash } from 'node:crypto'

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22)
