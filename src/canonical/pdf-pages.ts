/** How many pages an inline PDF has, at most: each is charged as text and as a picture. */

/** As many as any provider takes: ai.google.dev/gemini-api/docs/document-processing. */
const PAGES_MAX = 1000

/** Larger ones are not looked through. */
const CHARACTERS_MAX = 8 * 1024 * 1024

export const isPdf = (mediaType: string | null, base64: string): boolean =>
  /^application\/(?:x-)?pdf\b/i.test(mediaType ?? '') || base64.startsWith(PDF_HEAD)

/** `%PDF-` in base64. */
const PDF_HEAD = 'JVBERi'

export const pagesOf = (base64: string): number => {
  const text = base64.length > CHARACTERS_MAX ? '' : Buffer.from(base64, 'base64').toString('latin1')
  // Objects of a compressed stream, or of an encrypted file, cannot be counted here.
  if (/\/(?:ObjStm|Encrypt)\b/.test(text)) return PAGES_MAX
  const pages = text.match(PAGE)?.length ?? 0
  if (pages === 0) return PAGES_MAX
  // One page may stand in the tree several times; the tree tells how many there are.
  const told = [...text.matchAll(COUNT)].map(([, count]) => Number(count))
  return Math.min(
    PAGES_MAX,
    told.reduce((most, count) => Math.max(most, count), pages),
  )
}

const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g
const COUNT = /\/Count\s+(\d{1,9})/g
