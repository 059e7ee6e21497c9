/**
 * The images, sounds and files of a conversation, in the places where providers look for them: the parts of its items. Everything
 * else in a body is text to the model, whatever it looks like: a tool's schema, the arguments of a call, a member that no dialect
 * defines.
 */
import { typeOfName } from '../lib/file-types.ts'
import { isObject } from '../lib/json/json.ts'
import { lookForName } from '../lib/text/may-name.ts'
import { startPace, type Steps } from '../lib/steps.ts'
import { isPdf, pagesOf } from './pdf-pages.ts'

export interface ConversationMedia {
  /** Characters of base64 that encode media and are not read as text. */
  readonly characters: number
  readonly images: number
  /** Decoded bytes of inline media other than images. */
  readonly bytes: number
  /** Number of media that are neither images nor inline; their size is unknown here. */
  readonly linked: number
  /** Pages of inline PDFs; the maximum that a provider accepts if they cannot be counted. */
  readonly pages: number
  /** Upper bound of the tokens of inline text files. */
  readonly fileTokens: number
  /** The strings that hold the base64. */
  readonly inline: readonly string[]
}

type Counted = { -readonly [Name in keyof Omit<ConversationMedia, 'inline'>]: number } & {
  readonly inline: string[]
  /** PDFs in base64. */
  readonly pdfs: string[]
  /** Lists and parts that are still to be examined. */
  readonly waiting: unknown[]
}
type Json = Readonly<Record<string, unknown>>

export const NO_MEDIA: ConversationMedia = { characters: 0, images: 0, bytes: 0, linked: 0, pages: 0, fileTokens: 0, inline: [] }

/** The members of a body that hold a conversation, in the form that `plainName` returns. */
export const CONVERSATION_FIELDS: ReadonlySet<string> = new Set(['messages', 'input', 'contents'])

/** Normalises a name, because some servers ignore the case of names, the signs between their words and the form of their letters. */
export const plainName = (name: string): string =>
  PLAIN.test(name) ? name : name.normalize('NFKC').toLowerCase().replaceAll(NO_SIGN_OF_A_NAME, '')

const PLAIN = /^[a-z0-9]*$/
const NO_SIGN_OF_A_NAME = /[^\p{L}\p{N}]|\p{DI}/gu

/**
 * Returns true if `conversationMedia` may find media in a text: the text has a word for them, or an escaped letter that may belong
 * to one.
 */
export const mayHoldMedia = (json: string): Steps<boolean> => lookForName(MEDIA_STRING, json)

const KINDS = 'images?|screenshot|audio|video|file|document|media|container[_-]?upload'
const MEDIA_WORD_SOURCE = `(?:(?:input|computer|inline)[_-]?)?(?:${KINDS}|data)(?:[_-]?(?:url|uri|data|id|generation[_-]?call))?`
const MEDIA_STRING = new RegExp(`"(?!data")${MEDIA_WORD_SOURCE}"`, 'i')
const MEDIA_WORD = new RegExp(`^(?!data$)${MEDIA_WORD_SOURCE}$`, 'i')
const IMAGE_WORD = /image|screenshot/i

/** `conversation`: the parsed value of one of CONVERSATION_FIELDS. */
export function* conversationMedia(conversation: unknown): Steps<ConversationMedia> {
  const counted: Counted = { ...NO_MEDIA, inline: [], pdfs: [], waiting: [conversation] }
  const isStep = startPace()
  for (const value of counted.waiting) {
    if (Array.isArray(value)) for (const part of value as unknown[]) counted.waiting.push(part)
    else if (isObject(value)) countPart(value, counted)
    if (isStep()) yield
  }
  for (const pdf of counted.pdfs) counted.pages += yield* pagesOf(pdf)
  return counted
}

/** Members in which an item or a part holds parts of its own. Arguments and structured results of tools are not among them. */
const PART_FIELDS: ReadonlySet<string> = new Set(['content', 'parts', 'output', 'images', 'toolresult', 'functionresponse'])

const countPart = (part: Json, counted: Counted): void => {
  const kinds = new Set<'image' | 'other'>()
  const media: unknown[] = []
  for (const [name, value] of Object.entries(part)) {
    const holdsParts = PART_FIELDS.has(plainName(name))
    if (holdsParts && typeof value !== 'string') counted.waiting.push(value)
    // A document may be made of parts.
    else if (name === 'source' && isObject(value)) counted.waiting.push(value['content'])
    if (MEDIA_WORD.test(name)) {
      kinds.add(kindOf(name))
      media.push(value)
      // A list of URLs is a list of images.
      if (holdsParts && Array.isArray(value)) counted.images += (value as unknown[]).filter((entry) => typeof entry === 'string').length
    }
  }
  const type = textOf(part, 'type')
  if (type !== null && MEDIA_WORD.test(type)) kinds.add(kindOf(type))
  if (kinds.size === 0) return
  // In a part whose type says that it is something else, base64 counts as text.
  const isMedia = type === null || MEDIA_WORD.test(type)
  const source = inlineIn(type !== null && isMedia ? part : media, 0)
  const links = media.reduce<number>((sum, value) => sum + linksIn(value, 0), 0)
  if (kinds.has('image')) {
    counted.images += Math.max(1, links)
    if (isMedia && source?.isImage === true) passOver(source, counted)
  }
  if (!kinds.has('other')) return
  if (source === null) counted.linked += isText(part) ? 0 : Math.max(1, links)
  else if (source.isImage && source.isReported) counted.images += 1
  else countFile(source, counted)
  if (isMedia && source !== null && !kinds.has('image')) passOver(source, counted)
}

const passOver = ({ text, length }: Inline, counted: Counted): void => {
  counted.characters += length
  counted.inline.push(text)
}

const countFile = ({ text, length, mediaType }: Inline, counted: Counted): void => {
  const bytes = Math.ceil((length * 3) / 4)
  counted.bytes += bytes
  if (isPdf(mediaType, text.slice(-length))) counted.pdfs.push(text.slice(-length))
  else if (!SOUND.test(mediaType ?? '')) counted.fileTokens += bytes
}

/** Sounds and videos; any other file may be text, at up to one token per byte. */
const SOUND = /^(?:audio|video)\//i

const kindOf = (word: string): 'image' | 'other' => (IMAGE_WORD.test(word) ? 'image' : 'other')

/** A document whose source is text or a list of parts; these are counted elsewhere, as text or as parts. */
const isText = (part: Json): boolean => {
  const inner = Object.values(part).find((value) => isObject(value) && (textOf(value, 'type') !== null || textOf(value, 'text') !== null))
  return isObject(inner) && (TEXTS.has(textOf(inner, 'type') ?? '') || textOf(inner, 'text') !== null)
}

const TEXTS: ReadonlySet<string> = new Set(['text', 'content'])

interface Inline {
  /** The string that ends with the base64. */
  readonly text: string
  /** Characters of base64. */
  readonly length: number
  /** Null if it is not stated. */
  readonly mediaType: string | null
  readonly isImage: boolean
  /** The media type is stated; bare base64 in the place of an image counts as an image. */
  readonly isReported: boolean
}

/** Deeper than any dialect puts the data of a part. */
const DEPTH_MAX = 4

const DATA_FIELDS: ReadonlySet<string> = new Set(['data', 'bytes', 'filedata', 'result', 'b64json'])
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['url', 'uri'])
const DATA_URL = /^data:([^;,"]{0,100})[^,]{0,200};base64,/i

/** Returns the first base64 in a data field; a source that declares itself as text has none. */
const inlineIn = (value: unknown, depth: number): Inline | null => {
  if (depth > DEPTH_MAX) return null
  if (typeof value === 'string') return dataUrl(value)
  if (Array.isArray(value)) return firstOf(value as unknown[], (entry) => inlineIn(entry, depth + 1))
  if (!isObject(value) || TEXTS.has(textOf(value, 'type') ?? '')) return null
  const reported = textOf(value, 'media_type') ?? textOf(value, 'mimeType') ?? textOf(value, 'mime_type')
  return firstOf(Object.entries(value), ([name, entry]) => {
    const field = plainName(name)
    if (PART_FIELDS.has(field)) return null
    if (typeof entry !== 'string') return inlineIn(entry, depth + 1)
    // A title, a file's name or another text of the part is read as text, even if it is written like a data URL.
    if (!DATA_FIELDS.has(field)) return ADDRESS_FIELDS.has(field) || MEDIA_WORD.test(name) ? dataUrl(entry) : null
    // Where data is expected, some servers take an address too; it says nothing about the size of what it leads to.
    if (LINK.test(entry)) return dataUrl(entry)
    const mediaType = reported ?? (field === 'filedata' ? typeOfFile(value) : null)
    return {
      text: entry,
      length: entry.length,
      mediaType,
      isImage: mediaType === null || /^image\//i.test(mediaType),
      isReported: mediaType !== null,
    }
  })
}

/** The type of a file in bare base64, which OpenAI's dialects take for a PDF if its name has no known ending. */
const typeOfFile = (file: Json): string => typeOfName(textOf(file, 'filename') ?? '') ?? 'application/pdf'

const dataUrl = (text: string): Inline | null => {
  const [head, mediaType] = DATA_URL.exec(text) ?? []
  if (head === undefined || mediaType === undefined) return null
  return { text, length: text.length - head.length, mediaType, isImage: /^image\//i.test(mediaType), isReported: true }
}

const LINK = /^\s*(?:https?|gs|s3|file|data):/i

const linksIn = (value: unknown, depth: number): number => {
  if (depth > DEPTH_MAX) return 0
  if (typeof value === 'string') return LINK.test(value) ? 1 : 0
  if (!Array.isArray(value) && !isObject(value)) return 0
  return Object.values(value).reduce<number>((sum, entry) => sum + linksIn(entry, depth + 1), 0)
}

const textOf = (value: Json, name: string): string | null => {
  const found = value[name]
  return typeof found === 'string' ? found : null
}

const firstOf = <Entry, Found>(entries: readonly Entry[], find: (entry: Entry) => Found | null): Found | null => {
  for (const entry of entries) {
    const found = find(entry)
    if (found !== null) return found
  }
  return null
}
