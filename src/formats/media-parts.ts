/** Media in the content of a message, as far as OpenAI's two dialects write them alike. */
import type { Part } from '../canonical/prompt.ts'
import { typeOfName } from '../lib/file-types.ts'
import { child, type Node, optionalText, requiredText } from './json-node.ts'

/** `auto` is what an image without a detail has. */
export const imageDetail = (node: Node): { readonly detail?: string } => {
  const detail = optionalText(node, 'detail')
  return detail === null || detail === 'auto' ? {} : { detail }
}

export const readInputAudio = (part: Node): Part[] => {
  const audio = child(part, 'input_audio')
  return [{ type: 'audio', data: requiredText(audio, 'data'), format: requiredText(audio, 'format') }]
}

/** An address of `file_data`: a URL, or base64 alone, of which the name of the file says what it is; without one it is a PDF, as these dialects have it. */
export const fileAddress = (data: string, filename: string | null): string =>
  /^(?:https?|data):/i.test(data) ? data : `data:${typeOfName(filename ?? '') ?? 'application/pdf'};base64,${data}`
