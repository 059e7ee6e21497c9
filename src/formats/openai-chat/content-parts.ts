/** Reads the parts of a chat message's content (docs/contract/chat-completions.md#messages). */
import type { Part } from '../../canonical/prompt.ts'
import { child, member, type Node, optionalText, requiredText, requiredUrl } from '../json-node.ts'
import { fileAddress, imageDetail, readInputAudio } from '../media-parts.ts'
import { cacheMark, type PartReaders, unknownContent } from '../prompt-reader.ts'

const readImage = (part: Node): Part[] => {
  const image = isBare(part, 'image_url') ? null : child(part, 'image_url')
  const url = image === null ? requiredUrl(part, 'image_url') : requiredUrl(image, 'url')
  return [{ type: 'image', url, ...(image === null ? {} : imageDetail(image)), ...cacheMark(part) }]
}

const readVideo = (part: Node): Part[] => [
  { type: 'video', url: isBare(part, 'video_url') ? requiredUrl(part, 'video_url') : requiredUrl(child(part, 'video_url'), 'url') },
]

/** Says whether the member is the address itself, as in parts of Mistral and Perplexity, and not an object that holds it. */
const isBare = (part: Node, key: string): boolean => typeof member(part, key) === 'string'

/** Reads a file part. A `file_id` refers to another service's storage. */
const readFile = (part: Node): Part[] => {
  const file = child(part, 'file')
  const data = optionalText(file, 'file_data')
  if (data === null) return [unknownContent('file', file)]
  const filename = optionalText(file, 'filename')
  return [{ type: 'file', url: fileAddress(data, filename), filename, ...cacheMark(part) }]
}

/** Reads a document in the form of Mistral (`document_url`) or Perplexity (`file_url`). */
const readDocument =
  (key: 'document_url' | 'file_url', nameKey: string) =>
  (part: Node): Part[] => {
    const data = isBare(part, key) ? requiredText(part, key) : requiredText(child(part, key), 'url')
    const filename = optionalText(part, nameKey)
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
  document_url: readDocument('document_url', 'document_name'),
  file_url: readDocument('file_url', 'file_name'),
}
