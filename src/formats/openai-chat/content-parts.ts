/** Reads the parts of a chat message's content (docs/contract/chat-completions.md#messages). */
import type { Part } from '../../canonical/prompt.ts'
import { child, type Node, optionalText, requiredText, requiredUrl } from '../json-node.ts'
import { fileAddress, imageDetail, readInputAudio } from '../media-parts.ts'
import { cacheMark, type PartReaders, unknownContent } from '../prompt-reader.ts'

const readImage = (part: Node): Part[] => {
  const image = child(part, 'image_url')
  return [{ type: 'image', url: requiredUrl(image, 'url'), ...imageDetail(image), ...cacheMark(part) }]
}

const readVideo = (part: Node): Part[] => [{ type: 'video', url: requiredUrl(child(part, 'video_url'), 'url') }]

/** Reads a file part. A `file_id` refers to another service's storage. */
const readFile = (part: Node): Part[] => {
  const file = child(part, 'file')
  const data = optionalText(file, 'file_data')
  if (data === null) return [unknownContent('file', file)]
  const filename = optionalText(file, 'filename')
  return [{ type: 'file', url: fileAddress(data, filename), filename, ...cacheMark(part) }]
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
