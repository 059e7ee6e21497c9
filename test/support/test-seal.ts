/** Seals as a service does, with a key that only tests have. */
import { systemIds } from '../../src/lib/id.ts'
import { openBytes, sealBytes } from '../../src/lib/sealed-bytes.ts'
import type { ByteSeal, TextSeal } from '../../src/storage/rows/seal.ts'

const KEY = Buffer.alloc(32, 7)

export const testSeal: TextSeal & ByteSeal = {
  seal: (text, context) => sealBytes(Buffer.from(text), KEY, Buffer.from(context), systemIds),
  open: (sealed, context) => Buffer.from(openBytes(sealed, KEY, Buffer.from(context))).toString(),
  sealBytes: (bytes, context) => sealBytes(bytes, KEY, Buffer.from(context), systemIds),
  openBytes: (sealed, context) => openBytes(sealed, KEY, Buffer.from(context)),
}
