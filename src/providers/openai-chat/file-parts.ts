/** Files in the content of a message, as a vendor takes them; what it cannot be given is refused by name. */
import { isObject, type JsonObject } from '../../lib/json.ts'
import { uncarried } from '../uncarried.ts'
import type { RuleContext } from './message-context.ts'

/** The same part where the vendor takes it as it is. */
export const fileFor = (part: JsonObject, at: string, context: RuleContext): JsonObject => {
  const { files } = context.vendor
  const { file, ...rest } = part
  if (!isObject(file)) return part
  const { file_data: data, file_id: id, filename } = file
  if (typeof data !== 'string') {
    // Only where the dialect comes from is there a storage that an id may name.
    if (typeof id === 'string' && files !== 'data')
      uncarried({ type: 'unknown', kind: 'file', at, content: true }, { at, role: 'user' }, context)
    return part
  }
  const isAddress = /^https?:/i.test(data)
  if (files === 'document_url') {
    const { type: _, ...marks } = rest
    const name = typeof filename === 'string' ? { document_name: filename } : {}
    return { type: 'document_url', document_url: urlOf(data), ...name, ...marks }
  }
  if (isAddress && files === 'data')
    uncarried({ type: 'file', url: data, filename: null }, { at, role: 'user' }, context, 'takes files as data only, not by an address')
  // Data without a name is refused.
  if (isAddress || typeof filename === 'string') return part
  const kind = /^data:[^/;,]+\/([a-z0-9]+)/i.exec(data)?.[1]?.toLowerCase() ?? 'pdf'
  return { ...part, file: { filename: `file.${kind}`, ...file } }
}

/** Base64 alone is taken for a PDF. */
const urlOf = (data: string): string => (/^(?:https?|data):/i.test(data) ? data : `data:application/pdf;base64,${data}`)
