/** Parts of the content of a chat message (docs/contract/chat-completions.md#messages). */
import type { Part } from '../../canonical/prompt.ts'
import { child, type Node, optionalText, requiredText, requiredUrl } from '../json-node.ts'
import { imageDetail, readInputAudio } from '../media-parts.ts'
import { cacheMark, type PartReaders, unknownContent } from '../prompt-reader.ts'

const readImage = (part: Node): Part[] => {
  const image = child(part, 'image_url')
  return [{ type: 'image', url: requiredUrl(image, 'url'), ...imageDetail(image), ...cacheMark(part) }]
}

const readVideo = (part: Node): Part[] => [{ type: 'video', url: requiredUrl(child(part, 'video_url'), 'url') }]

/** `file_data` is a URL, or base64 alone, which this dialect takes for a PDF. A `file_id` names another service's storage. */
const readFile = (part: Node): Part[] => {
  const file = child(part, 'file')
  const data = optionalText(file, 'file_data')
  if (data === null) return [unknownContent('file', file)]
  const url = /^(?:https?|data):/i.test(data) ? data : `data:application/pdf;base64,${data}`
  return [{ type: 'file', url, filename: optionalText(file, 'filename'), ...cacheMark(part) }]
}

export const CONTENT_PARTS: PartReaders = {
  text: (part) => [{ type: 'text', text: requiredText(part, 'text'), ...cacheMark(part) }],
  refusal: (part) => [{ type: 'refusal', text: requiredText(part, 'refusal') }],
  image_url: readImage,
  input_audio: readInputAudio,
  video_url: readVideo,
  // The older name of the same part.
  input_video: readVideo,
  file: readFile,
}
