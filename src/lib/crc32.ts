/** CRC-32 of a text's UTF-8, like zlib's, but without `node:zlib`, which takes 10 ms to load. */
export const crc32 = (text: string): number => {
  const bytes = Buffer.from(text)
  let rest = 0xffff_ffff
  for (let at = 0; at < bytes.length; at += 1) rest = (TABLE[(rest ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (rest >>> 8)
  return (rest ^ 0xffff_ffff) >>> 0
}

/** The effect of each byte value on the remainder: eight steps of the polynomial, lowest bit first. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? 0xedb8_8320 ^ (rest >>> 1) : rest >>> 1
  return rest
})
