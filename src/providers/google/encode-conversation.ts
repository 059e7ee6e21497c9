/** Encodes the conversation as `systemInstruction` and `contents`. */
import type { Message, Part } from '../../canonical/prompt.ts'
import { mediaOfResult } from '../../canonical/result-pieces.ts'
import { textSize } from '../../canonical/text-size.ts'
import { isDataUrl } from '../../lib/network/data-url.ts'
import { parseExact } from '../../lib/json/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { answerable, refuseUnasked } from '../tools/answerable.ts'
import { tellSystemAlone } from '../roles/lacking-turns.ts'
import type { Translation } from '../losses/translation.ts'
import type { GeminiModel } from './gemini-model.ts'
import { withWords } from '../media/tool-media.ts'
import { uncarried } from '../losses/uncarried.ts'
import { fileData, inlineData, isReadByGoogle } from './encode-media.ts'
import {
  BEHIND_TEXT,
  isOwnMessage,
  ownSignature,
  PICTURE,
  signedPart,
  signFirstCall,
  signLast,
  signPictures,
  type ModelPart,
} from './signatures.ts'
import { functionResponse } from './tool-turns.ts'
import { withTurnsOfUser } from './turns-of-user.ts'

export interface Conversation {
  readonly systemInstruction: { readonly parts: readonly JsonObject[] } | undefined
  readonly contents: readonly Content[]
}

export interface Content {
  readonly role: 'user' | 'model'
  readonly parts: readonly JsonObject[]
}

/** Throws `invalid_prompt` if nothing is left to answer, or if a message cannot be read. */
export function* encodeConversation(translation: Translation, model: GeminiModel, modelId: string): Steps<Conversation> {
  const { messages } = translation.prompt
  const firstTurn = messages.findIndex(({ role }) => role === 'user' || role === 'assistant')
  const before = firstTurn < 0 ? messages.length : firstTurn
  const leading = model.takesSystemInstruction ? before : 0
  const context = { translation, model, modelId, calls: new Map<string, string>() }
  for (const message of messages) {
    if (message.name !== undefined) translation.lose(`${placeOf(message)}.name`, 'Google has no names of participants; it was left out.')
  }
  const system = messages.slice(0, leading).flatMap((message) => systemParts(message, translation))
  const turns: { role: Content['role']; parts: JsonObject[]; at: string }[] = []
  const add = (message: Message): void => {
    const role = message.role === 'assistant' ? 'model' : 'user'
    const parts = message.role === 'assistant' ? modelParts(message, context) : userParts(message, context)
    const last = turns.at(-1)
    if (parts.length === 0 && message === messages.at(-1) && message.role === 'user') refuseUnasked(placeOf(message))
    if (parts.length === 0) return
    if (last?.role === role) for (const part of parts) last.parts.push(part)
    else turns.push({ role, parts, at: placeOf(message) })
  }
  yield* mapInSteps(messages.slice(leading), add, textSize)
  yield
  if (turns.length === 0 && system.length > 0) {
    tellSystemAlone(messages[0]?.at ?? 'messages', translation)
    return { systemInstruction: undefined, contents: [{ role: 'user', parts: system }] }
  }
  return {
    systemInstruction: system.length === 0 ? undefined : { parts: system },
    contents: withTurnsOfUser(answerable(messages, turns), model, translation).map(({ role, parts }) => ({
      role,
      parts: role === 'user' ? responsesFirst(parts) : parts,
    })),
  }
}

interface Context {
  readonly translation: Translation
  readonly model: GeminiModel
  readonly modelId: string
  /** Names of the functions called so far, by the ids of the calls. */
  readonly calls: Map<string, string>
}

const placeOf = (message: Message): string => message.at ?? 'messages'

const systemParts = (message: Message, translation: Translation): JsonObject[] =>
  message.parts.flatMap((part): JsonObject[] => {
    if (part.type === 'text') return part.text === '' ? [] : [{ text: part.text }]
    uncarried(
      part,
      { at: placeOf(message), role: message.role },
      { ...translation, target: GOOGLE },
      'takes nothing but text in a system message',
    )
    return []
  })

const userParts = (message: Message, context: Context): JsonObject[] => {
  const { lose } = context.translation
  const at = placeOf(message)
  if (message.role !== 'user') lose(at, 'Google has no system message here; it was sent as a message of the user.')
  const place = { at, role: message.role }
  return message.parts.flatMap((part) => (part.type === 'tool-result' ? toolResult(part, at, context) : plainPart(part, place, context)))
}

const toolResult = (part: Extract<Part, { type: 'tool-result' }>, at: string, context: Context): JsonObject[] => {
  // Every result has a call before it (paired-results.ts).
  const name = context.calls.get(part.callId) ?? ''
  // A picture in a response has no resolution of its own.
  const plain = { ...context, model: { ...context.model, resolvesPictures: false } }
  const media = mediaOfResult(part).flatMap((piece) => plainPart(piece, { at, role: 'user' }, plain))
  // Older models take no media in a response, and newer ones few types: the rest follows it, introduced by the name of the tool.
  const goesInside = (piece: JsonObject): boolean => context.model.checksSignatures && isOfResponse(piece['inlineData'])
  const inside = media.filter(goesInside)
  const outside = media.filter((piece) => !goesInside(piece))
  const result = functionResponse(outside.length === 0 ? part : withWords(part, context.calls), name, inside)
  return outside.length === 0 ? [result] : [result, { text: `Returned by the tool ${name}:` }, ...outside]
}

/** Google is known to take these types in a response. Behind it, a model gets whatever a user may show it. */
const isOfResponse = (inline: JsonValue | undefined): boolean => isObject(inline) && RESPONSE_TYPES.has(inline['mimeType'])

const RESPONSE_TYPES: ReadonlySet<unknown> = new Set(['image/png', 'image/jpeg', 'image/webp', 'application/pdf', 'text/plain'])

const modelParts = (message: Message, context: Context): JsonObject[] => {
  const { lose } = context.translation
  const at = placeOf(message)
  const parts: ModelPart[] = []
  const own = isOwnMessage(message, context.modelId)
  let waiting: string | undefined
  /** The signature of an empty text that comes after the words. */
  let behind: string | undefined
  const pictures = new Map<string, string>()
  const add = (part: JsonObject, signature?: string): void => {
    const taken = signature ?? (part['functionCall'] === undefined && part['thought'] !== true ? waiting : undefined)
    if (taken !== undefined && taken === waiting) waiting = undefined
    parts.push({ part, signature: taken })
    if (behind === undefined || part['text'] === undefined || part['thought'] === true) return
    parts.push({ part: { text: '' }, signature: behind })
    behind = undefined
  }
  for (const part of message.parts) {
    if (part.type === 'reasoning') {
      const signature = ownSignature(part.proof, context.modelId)
      if (signature === undefined && !(own && part.proof === undefined))
        lose(at, 'Thinking that this model cannot know for its own was left out.')
      else if (part.text !== '') add({ text: part.text, thought: true }, signature)
      else if (signature !== undefined && part.proof?.id === BEHIND_TEXT) {
        if (parts.some((said) => said.part['text'] !== undefined && said.part['thought'] !== true))
          parts.push({ part: { text: '' }, signature })
        else behind = signature
      } else if (signature !== undefined && part.proof?.id?.startsWith(PICTURE) === true) pictures.set(part.proof.id, signature)
      else if (signature !== undefined && !signLast(parts, signature)) waiting = signature
    } else if (part.type === 'tool-call') {
      context.calls.set(part.id, part.name)
      const signature = ownSignature(part.proof, context.modelId)
      if (part.proof !== undefined && signature === undefined)
        lose(at, 'The proof of thinking of a tool call is another model’s; it was left out.')
      add({ functionCall: { id: part.id, name: part.name, args: parseExact(part.arguments) as JsonObject } }, signature)
    } else for (const piece of plainPart(part, { at, role: 'assistant' }, context)) add(piece)
  }
  for (const signature of [waiting, behind]) if (signature !== undefined) parts.push({ part: { text: '' }, signature })
  signPictures(parts, pictures)
  // Old turns are signed too, although Google does not check them, so that the history stays the same from turn to turn and in the cache.
  if (context.model.checksSignatures) signFirstCall(parts)
  return parts.map(signedPart)
}

/** Encodes parts that have the same form in the turns of both sides. */
const plainPart = (part: Part, place: Place, { translation, model }: Context): JsonObject[] => {
  const { at } = place
  const lost = (why?: string): [] => {
    uncarried(part, place, { ...translation, target: GOOGLE }, why)
    return []
  }
  switch (part.type) {
    case 'text':
      if ((part.annotations ?? []).length > 0)
        translation.lose(at, 'The sources of an earlier answer mean nothing to Google; they were left out.')
      return part.text === '' ? [] : [{ text: part.text }]
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'audio':
      return [{ inlineData: { mimeType: `audio/${part.format}`, data: part.data } }]
    case 'image':
      return withDetail(part.detail ?? 'auto', media(part.url, at, model, lost), { at, translation, model })
    case 'file':
      if (part.filename !== null) translation.lose(at, 'Google has no names of files; it was left out.')
      return media(part.url, at, model, lost)
    case 'video':
      return media(part.url, at, model, lost)
    case 'unknown':
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      return lost()
  }
}

const withDetail = (
  detail: string,
  pictures: JsonObject[],
  { at, translation, model }: Pick<Context, 'translation' | 'model'> & { readonly at: string },
): JsonObject[] => {
  if (detail === 'auto') return pictures
  const level = model.resolvesPictures ? RESOLUTIONS.get(detail) : undefined
  if (level === undefined) translation.lose(at, `Google has no detail ${detail} of an image here; it was left out.`)
  return level === undefined ? pictures : pictures.map((picture) => ({ ...picture, mediaResolution: { level } }))
}

/** The resolutions that stand for each `detail` of a picture in OpenAI's dialects. */
const RESOLUTIONS: ReadonlyMap<string, string> = new Map([
  ['low', 'MEDIA_RESOLUTION_LOW'],
  ['high', 'MEDIA_RESOLUTION_HIGH'],
  ['original', 'MEDIA_RESOLUTION_ULTRA_HIGH'],
])

interface Place {
  readonly at: string
  readonly role: Message['role']
}

const GOOGLE = { providerName: 'Google' }

const media = (url: string, at: string, model: GeminiModel, lost: (why: string) => []): JsonObject[] => {
  if (isDataUrl(url)) return [inlineData(url, at)]
  return isReadByGoogle(url, model)
    ? [fileData(url)]
    : lost(`takes ${model.readsUrls ? 'https: addresses and ' : ''}data: URLs here, and nothing else`)
}

/** Responses to calls have to come before everything else in the turn. */
const responsesFirst = (parts: readonly JsonObject[]): JsonObject[] => [
  ...parts.filter((part) => part['functionResponse'] !== undefined),
  ...parts.filter((part) => part['functionResponse'] === undefined),
]
