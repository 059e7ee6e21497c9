/**
 * Everything in a request that a model may read: every string, name of a member and long number of the body. Left out is
 * only what is known to be no text: words that a dialect fixes, ids that machines made, and bytes that spell nothing. So a
 * member or a part of a kind that is not known yet hides nothing.
 */
import { isCredentialName } from '../lib/credential-names.ts'
import { textInTags } from '../lib/folded-text.ts'
import type { JsonBody } from '../lib/json-body.ts'
import { type JsonText, jsonTokens, spliceJson } from '../lib/json-tokens.ts'
import { isDataUrl, payloadOf, type Payload } from './media-payload.ts'
import {
  CONVERSATION_FIELDS,
  ID_MEMBERS,
  isFixedWord,
  isMadeId,
  isPlainName,
  isSchemaWord,
  SHAPED_FIELDS,
  SHAPED_MEMBERS,
  UNREAD_FIELDS,
  WORD_MEMBERS,
} from './protocol-words.ts'
import type { Scan } from './scan.ts'

export interface InputText {
  readonly value: string
  /** JSON text of its own: a tool call's arguments. */
  readonly isJson: boolean
  /** Said by the user himself: not by the system, the model or a tool. */
  readonly byUser: boolean
  /** Said to the model, or a description: not a name, a number or a setting. */
  readonly isProse: boolean
  /** A name, an id or a fixed word: with another text in its place the request would mean something else. */
  readonly isFixed: boolean
  /** Opens something for a tool, and is no text for a model: that it is a secret is no find. */
  readonly isCredential: boolean
  /** Parts of one message, which a model reads one behind the other, have the same; null: a text by itself. */
  readonly message: string | null
}

interface Place extends InputText {
  readonly field: string
  readonly start: number
  readonly end: number
  readonly write: (text: string) => string
}

export interface InputTexts {
  readonly texts: readonly InputText[]
  /** The body with texts replaced, by their place in `texts`; every byte beside them stays. */
  replace(replacements: ReadonlyMap<number, string>): Scan<JsonBody>
}

export function* inputTexts(body: JsonBody): Scan<InputTexts> {
  const places: Place[] = []
  for (const field of body.keys) {
    if (UNREAD_FIELDS.has(field)) continue
    for (const place of yield* textsOf(field, body.raw(field) ?? '')) places.push(place)
    if (!isPlainName(field)) places.push(nameOf(field))
  }
  return {
    texts: places,
    *replace(replacements) {
      const byField = new Map<string, { start: number; end: number; text: string }[]>()
      for (const [index, text] of replacements) {
        const place = places[index]
        if (place === undefined || place.isFixed) continue
        const { field, start, end, write } = place
        const edits = byField.get(field) ?? []
        edits.push({ start, end, text: JSON.stringify(write(text)) })
        byField.set(field, edits)
        yield
      }
      const changes: [field: string, json: string][] = []
      for (const [field, edits] of byField) {
        edits.sort((left, right) => left.start - right.start)
        changes.push([field, spliceJson(body.raw(field) ?? '', edits)])
        yield
      }
      return body.with(Object.fromEntries(changes))
    },
  }
}

/** A container that is open. */
interface Frame {
  readonly key: string
  readonly isArray: boolean
  /** Its members have the names and values that a dialect gives them. */
  readonly isShaped: boolean
  /** Its members are headers or an environment that a tool is called with. */
  readonly isCredential: boolean
  /** How many places came before it. */
  readonly first: number
  type: string | null
  role: string | null
  mediaType: string | null
  /** Strings that may be bytes: what stands beside them decides. */
  readonly mayBeBytes: JsonText[]
}

function* textsOf(field: string, json: string): Scan<readonly Place[]> {
  const kind = kindOf(field)
  const places: (Place & { byUser: boolean })[] = []
  const frames: Frame[] = []
  let messages = 0

  const add = (text: JsonText, value: string, isFixed: boolean, write: Place['write'] = asItIs): void => {
    if (value === '') return
    const { start, end, key, isKey } = text
    const isProse = !isKey && !isFixed && text.kind === 'string' && (kind.isConversation || key === 'description' || key === 'title')
    const isJson = key === 'arguments' && !isKey && value.trimStart().startsWith('{')
    const message = key === 'text' && !isKey ? kind.messageAt(messages) : null
    const isCredential = !isKey && TOOL_FIELDS.has(field) && (isCredentialName(key) || frames.at(-1)?.isCredential === true)
    const fixed = isFixed || isCredential
    const place = { field, start, end, value, write, isJson, isProse, isFixed: fixed, isCredential, message, byUser: kind.byUser }
    places.push(place)
    const invisible = textInTags(value)
    if (invisible !== '') places.push({ ...place, value: invisible, isJson: false, isProse: false, isFixed: true, message: null })
  }

  const take = (text: JsonText, frame: Frame | undefined): void => {
    const { key, value, isKey } = text
    const isShaped = frame?.isShaped ?? SHAPED_FIELDS.has(field)
    if (isKey) {
      if (isShaped ? !isPlainName(value) : kind.isConversation || !isSchemaWord(value)) add(text, value, isShaped || !kind.isConversation)
    } else if (text.kind === 'number') {
      // One that stands alone, or in a shape beside the conversation, is a setting.
      if (frame !== undefined && (kind.isConversation || !isShaped)) add(text, value, false)
    } else if (!isShaped) {
      if (kind.isConversation || key !== 'type' || !isSchemaWord(value)) add(text, value, false)
    } else if (frame !== undefined && BYTES_MEMBERS.has(key)) frame.mayBeBytes.push(text)
    else {
      if (frame !== undefined) remember(frame, key, value)
      const isWord = WORD_MEMBERS.has(key) || (key === '' && !kind.isConversation)
      const isId = ID_MEMBERS.has(key)
      if ((isWord && isFixedWord(value)) || (isId && isMadeId(value))) return
      add(text, value, isWord || isId || (key === 'name' && isToolName(field, frame)))
    }
  }

  function* close(frame: Frame): Scan<void> {
    for (const text of frame.mayBeBytes) {
      const payload: Payload = isBytes(text, frame) ? yield* payloadOf(text.value, frame.mediaType) : { text: text.value, write: asItIs }
      if (payload !== null) add(text, payload.text, PROOF_MEMBERS.has(text.key), payload.write)
    }
    if (frame.isArray || !kind.hasMessages) return
    const isMessage = frames.length === 1
    const isOfOthers = isMessage
      ? frame.role !== 'user'
      : // The words of a tool are not the user's, even where a user's message holds them.
        frames.length === 3 && frame.key === 'content' && frame.type === 'tool_result'
    if (isMessage) messages += 1
    if (!isOfOthers) return
    for (let at = frame.first; at < places.length; at += 1) {
      const place = places[at]
      if (place !== undefined) place.byUser = false
    }
  }

  let taken = 0
  for (const token of jsonTokens(json)) {
    taken += 1
    if (token === undefined || taken % TOKENS_AT_ONCE === 0) yield
    if (token === undefined) continue
    const frame = frames.at(-1)
    if (token.kind === 'string' || token.kind === 'number') take(token, frame)
    else if (token.kind === 'open') {
      const { key, isArray } = token
      const isShaped = frame === undefined ? SHAPED_FIELDS.has(field) : frame.isShaped && (frame.isArray || SHAPED_MEMBERS.has(key))
      const isCredential = TOOL_FIELDS.has(field) && (frame?.isCredential === true || CREDENTIAL_MEMBERS.has(key))
      frames.push({ key, isArray, isShaped, isCredential, first: places.length, type: null, role: null, mediaType: null, mayBeBytes: [] })
    } else {
      const closed = frames.pop()
      if (closed !== undefined) yield* close(closed)
    }
  }
  return places
}

const TOKENS_AT_ONCE = 64

const asItIs = (text: string): string => text

/** A member that no dialect knows reaches the model's template under its own name. */
const nameOf = (field: string): Place => ({
  field,
  start: 0,
  end: 0,
  value: field,
  write: asItIs,
  isJson: false,
  byUser: false,
  isProse: false,
  isFixed: true,
  isCredential: false,
  message: null,
})

interface FieldKind {
  readonly isConversation: boolean
  readonly hasMessages: boolean
  /** The text in it is the user's, but for messages of others. */
  readonly byUser: boolean
  /** The facts that the parts of the message with this number share. */
  readonly messageAt: (number: number) => string | null
}

const kindOf = (field: string): FieldKind => {
  const hasMessages = field === 'messages' || field === 'input'
  const isOneText = field === 'system' || field === 'prediction'
  return {
    isConversation: CONVERSATION_FIELDS.has(field),
    hasMessages,
    byUser: hasMessages || field === 'prompt',
    messageAt: (number) => (hasMessages ? `${field} ${number}` : isOneText ? field : null),
  }
}

/** To every parser the last member of a name counts. */
const remember = (frame: Frame, key: string, value: string): void => {
  if (key === 'type') frame.type = value
  else if (key === 'role') frame.role = value
  else if (key === 'media_type' || key === 'mime_type') frame.mediaType = value
}

/** Members that hold nothing but bytes: the second kind proves that a model thought. */
const FILE_MEMBERS: ReadonlySet<string> = new Set(['file_data', 'b64_json'])
const PROOF_MEMBERS: ReadonlySet<string> = new Set(['signature', 'encrypted_content', 'thought_signature', 'thoughtSignature'])
const MAYBE_BYTES_MEMBERS = ['data', 'result', 'url', 'image_url', 'video_url', 'file_url', 'audio_url']
const BYTES_MEMBERS: ReadonlySet<string> = new Set([...FILE_MEMBERS, ...PROOF_MEMBERS, ...MAYBE_BYTES_MEMBERS])
/** Parts whose `data` is bytes, by their type or by the member that they are. */
const BYTES_TYPES: ReadonlySet<string | null> = new Set(['base64', 'redacted_thinking', 'reasoning.encrypted'])
const SOUND_MEMBERS: ReadonlySet<string> = new Set(['input_audio', 'audio'])

const isBytes = ({ key, value }: JsonText, { type, key: container }: Frame): boolean =>
  FILE_MEMBERS.has(key) ||
  PROOF_MEMBERS.has(key) ||
  isDataUrl(value) ||
  (key === 'data' && (BYTES_TYPES.has(type) || SOUND_MEMBERS.has(container))) ||
  (key === 'result' && type === 'image_generation_call')

const TOOL_FIELDS: ReadonlySet<string> = new Set(['tools', 'functions', 'tool_choice', 'function_call', 'mcp_servers'])
const CREDENTIAL_MEMBERS: ReadonlySet<string> = new Set(['headers', 'env'])
const TOOL_MEMBERS: ReadonlySet<string> = new Set(['function', 'custom', 'function_call', 'content'])

/** A tool's name stands in several places, which must agree. Names of people do not. */
const isToolName = (field: string, frame: Frame | undefined): boolean =>
  TOOL_FIELDS.has(field) || (frame !== undefined && (TOOL_MEMBERS.has(frame.key) || field === 'input'))
