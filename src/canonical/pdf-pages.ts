/** Upper bound of the pages of an inline PDF; each page is charged as text and as an image. */
import type { Steps } from '../lib/steps.ts'

/** The most that any provider accepts: ai.google.dev/gemini-api/docs/document-processing. */
const PAGES_MAX = 1000

/** Larger files are not examined. */
const CHARACTERS_MAX = 8 * 1024 * 1024

export const isPdf = (mediaType: string | null, base64: string): boolean =>
  /^application\/(?:x-)?pdf\b/i.test(mediaType ?? '') || base64.startsWith(PDF_HEAD)

/** `%PDF-` in base64. */
const PDF_HEAD = 'JVBERi'

export function* pagesOf(base64: string): Steps<number> {
  if (base64.length > CHARACTERS_MAX) return PAGES_MAX
  const file = Buffer.from(base64, 'base64')
  const text = file.toString('latin1')
  yield
  // The pages of an encrypted file cannot be counted.
  if (/\/Encrypt\b/.test(text)) return PAGES_MAX
  yield
  const compressed = yield* compressedObjects(file, text)
  if (compressed === null) return PAGES_MAX
  yield
  const objects = text + compressed
  const pages = objects.match(PAGE)?.length ?? 0
  if (pages === 0) return PAGES_MAX
  yield
  // One page may occur in the page tree several times; the tree's counts include that.
  let most = pages
  for (const [, count] of objects.matchAll(COUNT)) most = Math.max(most, Number(count))
  return Math.min(PAGES_MAX, most)
}

const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g
const COUNT = /\/Count\s+(\d{1,9})/g

/** Returns the objects in compressed streams as text; null if one cannot be read, or if they are too many or too long in total. */
function* compressedObjects(file: Buffer, text: string): Steps<string | null> {
  let objects = ''
  let streams = 0
  let before = 0
  for (const { index } of text.matchAll(/\/ObjStm\b/g)) {
    STREAM.lastIndex = index
    streams += 1
    if (STREAM.exec(text) === null || STREAM.lastIndex === before || streams > STREAMS_MAX) return null
    before = STREAM.lastIndex
    const inflated = inflatedUpTo(file.subarray(STREAM.lastIndex), INFLATED_MAX - objects.length)
    if (inflated === null) return null
    objects += inflated
    yield
  }
  return objects
}

/** The end of a stream's dictionary; the stream itself begins after this line (ISO 32000-1, 7.3.8.1). */
const STREAM = /\bstream\r?\n/g

/** Limits that keep the inflation to a few milliseconds. */
const STREAMS_MAX = 500
const INFLATED_MAX = 1024 * 1024

/** Inflates the stream and ignores the bytes after its end. */
const inflatedUpTo = (deflated: Buffer, maxOutputLength: number): string | null => {
  try {
    // Loaded on first use, as few requests hold such a file.
    return process.getBuiltinModule('node:zlib').inflateSync(deflated, { maxOutputLength }).toString('latin1')
  } catch {
    // Another filter, a broken stream, or one that is too long: its pages cannot be counted.
    return null
  }
}
