/** Media in the content of a message, as far as OpenAI's two dialects write them alike. */
import type { Part } from '../canonical/prompt.ts'
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
