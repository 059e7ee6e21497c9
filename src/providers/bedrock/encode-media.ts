/** Encodes pictures, videos and documents as blocks: Converse takes their bytes, not a web address. */
import type { JsonObject } from '../../lib/json/json.ts'
import { isTextType } from '../../lib/file-types.ts'
import { readDataUrl } from '../../lib/network/data-url.ts'

/** A block, or the reason why there is none, as words to follow the provider's name. */
export type Media = { readonly block: JsonObject } | { readonly why: string }

export const imageMedia = (url: string): Media => {
  const data = readDataUrl(url)
  if (data === null) return { why: 'takes pictures as data only, not by an address' }
  const format = IMAGE_FORMATS.get(data.mediaType)
  return format === undefined
    ? { why: 'takes no pictures of this format' }
    : { block: { image: { format, source: { bytes: data.base64() } } } }
}

export const videoMedia = (url: string): Media => {
  const data = readDataUrl(url)
  if (data === null) return { why: 'takes films as data only, not by an address' }
  const format = VIDEO_FORMATS.get(data.mediaType)
  return format === undefined
    ? { why: 'takes no films of this format' }
    : { block: { video: { format, source: { bytes: data.base64() } } } }
}

/** `taken`: the names of the documents so far; this one's is added. */
export const documentMedia = (url: string, filename: string | null, taken: Set<string>): Media => {
  const data = readDataUrl(url)
  if (data === null) return { why: 'takes files as data only, not by an address' }
  if (data.mediaType.startsWith('image/')) return imageMedia(url)
  const format = DOCUMENT_FORMATS.get(data.mediaType) ?? (isTextType(data.mediaType) ? 'txt' : undefined)
  if (format === undefined) return { why: 'takes no files of this format' }
  return { block: { document: { format, name: documentName(filename, taken), source: { bytes: data.base64() } } } }
}

export const AUDIO_FORMATS: ReadonlySet<string> = new Set(
  ['mp3', 'opus', 'wav', 'aac', 'flac', 'mp4', 'ogg', 'mkv', 'mka', 'x-aac', 'm4a', 'mpeg', 'mpga', 'pcm', 'webm'], // AudioFormat
)

const IMAGE_FORMATS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

const VIDEO_FORMATS: ReadonlyMap<string, string> = new Map([
  ['video/mp4', 'mp4'],
  ['video/quicktime', 'mov'],
  ['video/x-matroska', 'mkv'],
  ['video/webm', 'webm'],
  ['video/x-flv', 'flv'],
  ['video/mpeg', 'mpeg'],
  ['video/x-ms-wmv', 'wmv'],
  ['video/3gpp', 'three_gp'],
])

const DOCUMENT_FORMATS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
])

const NAME_MAX = 190

/**
 * Letters, digits, single spaces, hyphens, parentheses and square brackets, and no name twice (DocumentBlock). The model reads the name, so
 * a file's own name is kept as far as possible, without its extension, which the format shows.
 */
const documentName = (filename: string | null, taken: Set<string>): string => {
  const bare = (filename ?? '').replace(/\.[A-Za-z0-9]{1,5}$/, '')
  const lawful = bare
    .replaceAll(/[^a-zA-Z0-9\s()[\]-]+/g, '-')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, NAME_MAX)
    .trim()
  const wanted = /[a-zA-Z0-9]/.test(lawful) ? lawful : 'document'
  let name = wanted
  for (let copy = 2; taken.has(name); copy += 1) name = `${wanted} (${copy})`
  taken.add(name)
  return name
}
