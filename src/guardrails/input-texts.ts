/**
 * Everything in a request that a model may read: every string, member name and long number of the body. Only what is known not to
 * be text is left out: fixed words of a dialect, machine-made ids, and bytes that are not text. So a member or a part of an
 * unknown kind cannot hide anything.
 */
import { isCredentialName } from '../lib/credential-names.ts'
import { textInTags } from './folded-text.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { type JsonText, spliceJson, walkJson } from '../lib/json/json-tokens.ts'
import { readsAsDataUrl, payloadOf, type Payload } from './media-payload.ts'
import {
  PROMPT_FIELDS,
  ID_MEMBERS,
  isFixedWord,
  isMadeId,
  isPlainName,
  isSchemaWord,
  KNOWN_FIELDS,
  SHAPED_FIELDS,
  SHAPED_MEMBERS,
  UNREAD_FIELDS,
  WORD_MEMBERS,
} from './protocol-words.ts'
import type { Scan } from './scan.ts'

export interface InputText {
  readonly value: string
  /** The text is JSON itself: a tool call's arguments. */
  readonly isJson: boolean
  /** Written by the user, and not by the system, the model or a tool. */
  readonly byUser: boolean
  /** Addressed to the model, or a description; not a name, a number or a setting. */
  readonly isProse: boolean
  /** A name, an id or a fixed word: replacing it would change the meaning of the request. */
  readonly isFixed: boolean
  /** A credential for a tool, which the model does not read; a secret here is not a finding. */
  readonly isCredential: boolean
  /** An id shared by the parts of one message, which a model reads one after the other; null for a separate text. */
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
  /** Returns the body with texts replaced, keyed by their index in `texts`; all other bytes stay. */
  replace(replacements: ReadonlyMap<number, string>): Scan<JsonBody>
}

export function* inputTexts(body: JsonBody): Scan<InputTexts> {
  const places: Place[] = []
  for (const field of body.keys) {
    if (UNREAD_FIELDS.has(field)) continue
    for (const place of yield* textsOf(field, body.raw(field) ?? '')) {
      places.push(place)
      const invisible = yield* textInTags(place.value)
      if (invisible !== '') places.push({ ...place, value: invisible, isJson: false, isProse: false, isFixed: true, message: null })
    }
    if (!isPlainName(field)) places.push(nameOf(field))
  }
  return {
    texts: places,
    *replace(replacements) {
      const byField = new Map<string, { start: number; end: number; text: string }[]>()
      for (const [index, text] of replacements) {
        const place = places[index]
        if (place === undefined || place.isFixed || place.isCredential) continue
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

/** An open container. */
interface Frame {
  readonly key: string
  readonly isArray: boolean
  /** A dialect defines the names and values of its members. */
  readonly isShaped: boolean
  /** Its members are headers or environment variables for a tool. */
  readonly isCredential: boolean
  /** The number of places before it. */
  readonly first: number
  type: string | null
  role: string | null
  mediaType: string | null
  /** Strings that may be bytes, depending on the members beside them. */
  readonly mayBeBytes: JsonText[]
}

function* textsOf(field: string, json: string): Scan<readonly Place[]> {
  const kind = kindOf(field)
  const places: (Place & { byUser: boolean; isCredential: boolean })[] = []
  const frames: Frame[] = []
  let messages = 0

  const add = (text: JsonText, value: string, isFixed: boolean, write: Place['write'] = asItIs): void => {
    if (value === '') return
    const { start, end, key, isKey } = text
    const isProse =
      !isKey && !isFixed && text.kind === 'string' && (kind.isConversation || field === PLUGINS || key === 'description' || key === 'title')
    const isJson = key === 'arguments' && !isKey && value.trimStart().startsWith('{')
    const message = key === 'text' && !isKey ? kind.messageAt(messages) : null
    const isCredential = !isKey && CREDENTIAL_FIELDS.has(field) && (isCredentialName(key) || frames.at(-1)?.isCredential === true)
    places.push({ field, start, end, value, write, isJson, isProse, isFixed, isCredential, message, byUser: kind.byUser })
  }

  const take = (text: JsonText, frame: Frame | undefined): void => {
    const { key, value, isKey } = text
    const isShaped = frame?.isShaped ?? SHAPED_FIELDS.has(field)
    if (isKey) {
      if (isShaped ? !isPlainName(value) : kind.isConversation || !isSchemaWord(value)) add(text, value, isShaped || !kind.isConversation)
    } else if (text.kind === 'number') {
      // The value of a known field that stands alone, or in a shape outside the conversation, is a setting.
      if (frame === undefined ? !KNOWN_FIELDS.has(field) : kind.isConversation || !isShaped) add(text, value, false)
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

  function* readBytes(frame: Frame): Scan<void> {
    for (const text of frame.mayBeBytes) {
      const payload: Payload = isBytes(text, frame) ? yield* payloadOf(text.value, frame.mediaType) : { text: text.value, write: asItIs }
      if (payload !== null) add(text, payload.text, PROOF_MEMBERS.has(text.key), payload.write)
    }
    leave(frame)
  }

  const leave = (frame: Frame): void => {
    if (frame.isArray) return
    if (field === 'tools' && isClientTool(frame, frames.length)) for (const place of places.slice(frame.first)) place.isCredential = false
    if (!kind.hasMessages) return
    const isMessage = frames.length === 1
    const isOfOthers = isMessage
      ? frame.role !== 'user'
      : // The text of a tool is not the user's, even inside a user message.
        frames.length === 3 && frame.key === 'content' && frame.type === 'tool_result'
    if (isMessage) messages += 1
    if (isOfOthers) for (const place of places.slice(frame.first)) place.byUser = false
  }

  yield* walkJson(json, {
    text(text) {
      if (field !== PLUGINS || isPluginText(text, frames)) take(text, frames.at(-1))
    },
    open(key, isArray) {
      const frame = frames.at(-1)
      const isShaped = frame === undefined ? SHAPED_FIELDS.has(field) : frame.isShaped && (frame.isArray || SHAPED_MEMBERS.has(key))
      const isCredential = CREDENTIAL_FIELDS.has(field) && (frame?.isCredential === true || CREDENTIAL_MEMBERS.has(key))
      frames.push({ key, isArray, isShaped, isCredential, first: places.length, type: null, role: null, mediaType: null, mayBeBytes: [] })
    },
    close() {
      const frame = frames.pop()
      if (frame === undefined) return undefined
      if (frame.mayBeBytes.length > 0) return readBytes(frame)
      leave(frame)
      return undefined
    },
  })
  return places
}

const asItIs = (text: string): string => text

/** The name of a member that no dialect defines; it reaches the model's template under that name. */
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
  /** The text in it is the user's, except in messages of other roles. */
  readonly byUser: boolean
  /** Returns the id shared by the parts of the message with this number; null if its texts are separate. */
  readonly messageAt: (number: number) => string | null
}

const kindOf = (field: string): FieldKind => {
  const hasMessages = field === 'messages' || field === 'input'
  const isOneText = field === 'system' || field === 'prediction'
  return {
    isConversation: PROMPT_FIELDS.has(field),
    hasMessages,
    byUser: hasMessages || field === 'prompt',
    messageAt(number) {
      if (hasMessages) return `${field} ${number}`
      return isOneText ? field : null
    },
  }
}

/** Records a member that determines how others are read. The last member of a name counts, as in every parser. */
const remember = (frame: Frame, key: string, value: string): void => {
  if (key === 'type') frame.type = value
  else if (key === 'role') frame.role = value
  else if (key === 'media_type' || key === 'mime_type') frame.mediaType = value
}

/** Members that hold only bytes: inline files, and proofs of thinking. */
const FILE_MEMBERS: ReadonlySet<string> = new Set(['file_data', 'b64_json'])
const PROOF_MEMBERS: ReadonlySet<string> = new Set(['signature', 'encrypted_content', 'thought_signature', 'thoughtSignature'])
const MAYBE_BYTES_MEMBERS = ['data', 'result', 'url', 'image_url', 'video_url', 'file_url', 'audio_url', 'document_url']
const BYTES_MEMBERS: ReadonlySet<string> = new Set([...FILE_MEMBERS, ...PROOF_MEMBERS, ...MAYBE_BYTES_MEMBERS])
/** Parts whose `data` is bytes, by their type or by their member name. */
const BYTES_TYPES: ReadonlySet<string | null> = new Set(['base64', 'redacted_thinking', 'reasoning.encrypted'])
const SOUND_MEMBERS: ReadonlySet<string> = new Set(['input_audio', 'audio'])

const isBytes = ({ key, value }: JsonText, { type, key: container }: Frame): boolean =>
  FILE_MEMBERS.has(key) ||
  PROOF_MEMBERS.has(key) ||
  readsAsDataUrl(value) ||
  (key === 'data' && (BYTES_TYPES.has(type) || SOUND_MEMBERS.has(container))) ||
  (key === 'result' && type === 'image_generation_call')

/**
 * True for the definition of a tool that the client runs. A model reads all of it, whatever its members are called: a parameter `headers`,
 * an example with a `token`. On Messages such a tool may have no type.
 */
const isClientTool = ({ key, type }: Frame, depth: number): boolean =>
  key === 'function' || key === 'custom' || type === 'function' || type === 'custom' || (type === null && depth === 1)

const PLUGINS = 'plugins'
/** The options of plugins that reach a model or a search. All others address this service. */
const PLUGIN_TEXTS: ReadonlySet<string> = new Set(['rules', 'search_prompt', 'user_location', 'include_domains', 'exclude_domains'])

const isPluginText = ({ key, isKey }: JsonText, frames: readonly Frame[]): boolean =>
  (!isKey && PLUGIN_TEXTS.has(key)) || frames.some((frame) => PLUGIN_TEXTS.has(frame.key))

const CREDENTIAL_FIELDS: ReadonlySet<string> = new Set(['tools', 'mcp_servers'])
const TOOL_FIELDS: ReadonlySet<string> = new Set(['tools', 'functions', 'tool_choice', 'function_call', 'mcp_servers'])
const CREDENTIAL_MEMBERS: ReadonlySet<string> = new Set(['headers', 'env'])
const TOOL_MEMBERS: ReadonlySet<string> = new Set(['function', 'custom', 'function_call', 'content'])

/** Returns true for a tool's name, which occurs in several places that must agree. Names of people do not have to. */
const isToolName = (field: string, frame: Frame | undefined): boolean =>
  TOOL_FIELDS.has(field) || (frame !== undefined && (TOOL_MEMBERS.has(frame.key) || field === 'input'))
