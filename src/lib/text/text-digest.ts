/** The SHA-256 of a text that may be megabytes long. */
import { createHash } from 'node:crypto'

import type { Steps } from '../steps.ts'
import { textPieces } from './text-pieces.ts'

const PIECE = 1024 * 1024

/** Returns hexadecimal digits. */
export function* textDigest(text: string): Steps<string> {
  const hash = createHash('sha256')
  for (const piece of textPieces(text, PIECE)) {
    hash.update(piece)
    if (text.length > PIECE) yield
  }
  return hash.digest('hex')
}
