/** `data:` URLs (RFC 2397). */
export interface DataUrl {
  /** Lower case, without parameters; text without a type is `text/plain`. */
  readonly mediaType: string
  base64(): string
  text(): string
}

/** Null for any other kind of address. */
export const readDataUrl = (url: string): DataUrl | null => {
  if (!/^data:/i.test(url)) return null
  const comma = url.indexOf(',')
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma < 0 ? url.length : comma).split(';')
  const payload = comma < 0 ? '' : url.slice(comma + 1)
  const encoded = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')
  return {
    mediaType: mediaType.trim().toLowerCase() || 'text/plain',
    base64: () => (encoded ? payload : Buffer.from(unescaped(payload)).toString('base64')),
    text: () => (encoded ? Buffer.from(payload, 'base64').toString() : unescaped(payload)),
  }
}

const unescaped = (payload: string): string => {
  try {
    return decodeURIComponent(payload)
  } catch {
    return payload // a lone percent sign is what it is
  }
}
