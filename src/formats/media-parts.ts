/** Reads media in the content of a message, in the forms that OpenAI's two dialects share. */
import type { Part } from '../canonical/prompt.ts'
import { typeOfName } from '../lib/file-types.ts'
import { urlOfMedia } from '../lib/network/data-url.ts'
import { child, type Node, optionalText, requiredText } from './json-node.ts'

/** Omits `auto`, which is the default detail of an image. */
export const imageDetail = (node: Node): { readonly detail?: string } => {
  const detail = optionalText(node, 'detail')
  return detail === null || detail === 'auto' ? {} : { detail }
}

export const readInputAudio = (part: Node): Part[] => {
  const audio = child(part, 'input_audio')
  return [{ type: 'audio', data: requiredText(audio, 'data'), format: requiredText(audio, 'format') }]
}

/**
 * Returns a URL for `file_data`: the URL itself, or bare base64 whose type follows from the file's name; without one it is a PDF,
 * as these dialects assume.
 */
export const fileAddress = (data: string, filename: string | null): string =>
  urlOfMedia(data, typeOfName(filename ?? '') ?? 'application/pdf')
