/** Adapts files in the content of a message to a vendor; a file that the vendor cannot take is refused, naming its place. */
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { fileNameFor, readDataUrl, urlOfMedia } from '../../lib/network/data-url.ts'
import { hasOwnTemplates } from '../roles/role-rules.ts'
import { uncarried } from '../losses/uncarried.ts'
import type { RuleContext } from './message-context.ts'

/** Returns the same part if the vendor takes it as it is. */
export const fileFor = (part: JsonObject, at: string, context: RuleContext): JsonObject => {
  const { files } = context.vendor
  // A template of the operator's own may know parts that its server does not.
  if (part['type'] === files || (part['type'] !== 'file' && hasOwnTemplates(context.target.provider))) return part
  const whole = asFile(part)
  const { file, type: _, ...marks } = whole
  if (!isObject(file)) return part
  const { file_data: data, file_id: id, filename } = file
  if (typeof data !== 'string') {
    // An id is passed on only to vendors with OpenAI's files (`data`), which may have a storage for it.
    if (typeof id === 'string' && files !== 'data')
      uncarried({ type: 'unknown', kind: 'file', at, content: true }, { at, role: 'user' }, context)
    return part
  }
  const isAddress = /^https?:/i.test(data)
  if (files === 'document_url') {
    const name = typeof filename === 'string' ? { document_name: filename } : {}
    return { type: files, document_url: urlOf(data), ...name, ...marks }
  }
  if (files === 'file_url') {
    const name = typeof filename === 'string' ? { file_name: filename } : {}
    return { type: files, file_url: { url: readDataUrl(data)?.base64() ?? data }, ...name, ...marks }
  }
  if (isAddress && files === 'data')
    uncarried({ type: 'file', url: data, filename: null }, { at, role: 'user' }, context, 'takes files as data only, not by an address')
  // File data without a name is refused, so it gets one.
  if (isAddress || typeof filename === 'string') return whole
  return { ...whole, file: { filename: fileNameFor(data), ...file } }
}

/** The part in OpenAI's form. */
const asFile = (part: JsonObject): JsonObject => {
  const { type, document_url: document, document_name: documentName, file_url: file, file_name: fileName, ...marks } = part
  const [address, name] = type === 'document_url' ? [document, documentName] : [file, fileName]
  const data = isObject(address) ? address['url'] : address
  if (type === 'file' || typeof data !== 'string') return part
  return { ...marks, type: 'file', file: { ...(typeof name === 'string' ? { filename: name } : {}), file_data: urlOf(data) } }
}

/** Base64 without a type is assumed to be a PDF. */
const urlOf = (data: string): string => urlOfMedia(data, 'application/pdf')
