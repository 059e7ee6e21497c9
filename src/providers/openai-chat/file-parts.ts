/** Adapts files in the content of a message to a vendor; a file that the vendor cannot take is refused, naming its place. */
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { uncarried } from '../losses/uncarried.ts'
import type { RuleContext } from './message-context.ts'

/** Returns the same part if the vendor takes it as it is. */
export const fileFor = (part: JsonObject, at: string, context: RuleContext): JsonObject => {
  const { files } = context.vendor
  const { file, ...rest } = part
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
    const { type: _, ...marks } = rest
    const name = typeof filename === 'string' ? { document_name: filename } : {}
    return { type: 'document_url', document_url: urlOf(data), ...name, ...marks }
  }
  if (isAddress && files === 'data')
    uncarried({ type: 'file', url: data, filename: null }, { at, role: 'user' }, context, 'takes files as data only, not by an address')
  // File data without a name is refused, so it gets one.
  if (isAddress || typeof filename === 'string') return part
  const kind = /^data:[^/;,]+\/([a-z0-9]+)/i.exec(data)?.[1]?.toLowerCase() ?? 'pdf'
  return { ...part, file: { filename: `file.${kind}`, ...file } }
}

/** Base64 without a type is assumed to be a PDF. */
const urlOf = (data: string): string => (/^(?:https?|data):/i.test(data) ? data : `data:application/pdf;base64,${data}`)
