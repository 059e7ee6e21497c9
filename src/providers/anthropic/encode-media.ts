/** Encodes pictures and documents as blocks. Null for media that the dialect has no block for. */
import type { CacheMark } from '../../canonical/prompt.ts'
import { cacheMember } from './encode-context.ts'
import { isTextType } from '../../lib/file-types.ts'
import { type DataUrl, readDataUrl } from '../../lib/network/data-url.ts'

type MediaBlock = Readonly<Record<string, unknown>>

export const imageBlock = (url: string, cache?: CacheMark): MediaBlock | null => {
  const data = readDataUrl(url)
  if (data === null) return { type: 'image', source: { type: 'url', url }, ...cacheMember(cache) }
  const mediaType = data.mediaType === 'image/jpg' ? 'image/jpeg' : data.mediaType
  return IMAGE_TYPES.has(mediaType)
    ? { type: 'image', source: { type: 'base64', media_type: mediaType, data: data.base64() }, ...cacheMember(cache) }
    : null
}

/** Takes a PDF, plain text of any kind, a picture, or an address, which has to be that of a PDF. */
export const documentBlock = (url: string, filename: string | null, cache?: CacheMark): MediaBlock | null => {
  const data = readDataUrl(url)
  const title = filename === null ? {} : { title: filename }
  if (data === null) return { type: 'document', source: { type: 'url', url }, ...title, ...cacheMember(cache) }
  if (data.mediaType.startsWith('image/')) return imageBlock(url, cache)
  const source = sourceOf(data)
  return source === null ? null : { type: 'document', source, ...title, ...cacheMember(cache) }
}

const sourceOf = (data: DataUrl) => {
  if (data.mediaType === PDF) return { type: 'base64', media_type: PDF, data: data.base64() }
  return isTextType(data.mediaType) ? { type: 'text', media_type: 'text/plain', data: data.text() } : null
}

const PDF = 'application/pdf'
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])
