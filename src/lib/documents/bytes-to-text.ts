/**
 * Decodes the bytes of a page: by their byte order mark, else by the charset that the host names,
 * else by the one that the page names, else as UTF-8.
 */
export const bytesToText = (bytes: Uint8Array, charset: string | null): string => {
  const label = markOf(bytes) ?? charset ?? META_CHARSET.exec(new TextDecoder('latin1').decode(bytes.subarray(0, HEAD_BYTES)))?.[1]
  return decoderOf(label ?? 'utf-8').decode(bytes)
}

/** Browsers look no further for a charset either. */
const HEAD_BYTES = 1024
const META_CHARSET = /<meta[^>]{0,200}?charset\s{0,10}=\s{0,10}["']?([\w-]{1,40})/i

const markOf = ([first, second, third]: Uint8Array): string | null => {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : null
}

const decoderOf = (label: string): TextDecoder => {
  try {
    return new TextDecoder(label as ConstructorParameters<typeof TextDecoder>[0])
  } catch {
    // The name is unknown: nearly every page is UTF-8.
    return new TextDecoder()
  }
}
