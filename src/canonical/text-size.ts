import type { Message, Part } from './prompt.ts'
import { mediaOfResult } from './result-pieces.ts'

/** Characters in a message: texts, arguments, and media as they are encoded. */
export const textSize = ({ parts }: Message): number => parts.reduce((sum, part) => sum + sizeOf(part), 0)

const sizeOf = (part: Part): number => {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return part.text.length
    case 'tool-call':
      return part.arguments.length
    case 'tool-result':
      return mediaOfResult(part).reduce((sum, piece) => sum + sizeOf(piece), part.text.length)
    case 'image':
    case 'video':
    case 'file':
      return part.url.length
    case 'audio':
      return part.data.length
    case 'unknown':
      return 0
  }
}
