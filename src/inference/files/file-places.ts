/** Finds PDFs in a conversation as its client wrote it, and builds the text parts that replace them. */
import type { ClientDialect } from '../../canonical/call.ts'
import { isMap, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { urlOfMedia } from '../../lib/network/data-url.ts'

/** A part that may be a PDF. */
export interface FilePart {
  /** A data: or http(s): URL. */
  readonly url: string
  readonly name: string | null
}

/** Null for any other part, and for a file that is known not to be a PDF. */
export const filePart = (part: JsonValue, dialect: ClientDialect): FilePart | null => {
  if (!isMap(part)) return null
  switch (dialect) {
    case 'chat': {
      const { type, file, document_url: document, file_url: other } = part
      if (type === 'document_url') return fileOf(isMap(document) ? document['url'] : document, part['document_name'])
      if (type === 'file_url') return fileOf(isMap(other) ? other['url'] : other, part['file_name'])
      return type === 'file' && isMap(file) ? fileOf(file['file_data'], file['filename']) : null
    }
    case 'responses':
      return part['type'] === 'input_file' ? fileOf(part['file_data'] ?? part['file_url'], part['filename']) : null
    case 'messages': {
      const source = part['type'] === 'document' ? part['source'] : null
      if (!isMap(source)) return null
      if (source['type'] === 'url') return fileOf(source['url'], part['title'])
      const isPdf = source['type'] === 'base64' && source['media_type'] === PDF_TYPE
      return isPdf && typeof source['data'] === 'string' ? fileOf(`data:${PDF_TYPE};base64,${source['data']}`, part['title']) : null
    }
  }
}

export const textPart = (text: string, dialect: ClientDialect): JsonObject => ({
  type: dialect === 'responses' ? 'input_text' : 'text',
  text,
})

const PDF_TYPE = 'application/pdf'

/** Base64 without a data: prefix is taken for a PDF. */
const fileOf = (data: unknown, name: unknown): FilePart | null => {
  if (typeof data !== 'string' || data === '') return null
  if (/^data:/i.test(data) && !/^data:\s*application\/pdf\s*[;,]/i.test(data)) return null
  return { url: urlOfMedia(data, PDF_TYPE), name: typeof name === 'string' && name !== '' ? name : null }
}
