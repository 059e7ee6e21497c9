/**
 * Everything in a request that a model reads: every string of the conversation, whatever part it stands in, so that a part
 * of a kind that nobody knows yet hides nothing. Left out is what is no text: names of the protocol, pictures and the like
 * as base64, proofs of thinking. Of tools and schemas, which the developer wrote, the descriptions.
 */
import type { JsonBody } from '../lib/json-body.ts'
import { scanElements } from '../lib/json-scan.ts'
import { rawMember } from '../lib/json-splice.ts'
import { type JsonString, jsonStrings, spliceJson } from '../lib/json-strings.ts'

export interface InputText {
  readonly value: string
  /** JSON text of its own: a tool call's arguments. */
  readonly isJson: boolean
  /** Said by the user himself: not by the system, the model or a tool. */
  readonly byUser: boolean
  /** Parts of one message, which a model reads one behind the other, have the same; null: a text by itself. */
  readonly message: string | null
}

interface Place extends InputText {
  readonly field: string
  readonly string: JsonString
}

/** Top-level members whose every text counts. */
const CONVERSATION = ['messages', 'system', 'input', 'instructions', 'prompt', 'prediction'] as const
const DESCRIBED = ['tools', 'functions', 'response_format', 'text'] as const

/** Values of these are words of the protocol, or meant for machines. */
const NO_TEXT: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'media_type',
  'format',
  'detail',
  'status',
  'signature',
  'encrypted_content',
  'thought_signature',
  'ttl',
])

/** Where bytes may stand in place of text. */
const BYTES: ReadonlySet<string> = new Set(['data', 'url', 'image_url', 'file_data', 'audio', 'video_url', 'file_url'])

const isBytes = (key: string, value: string): boolean =>
  BYTES.has(key) &&
  (/^data:[^,]{0,200};base64,/.test(value) || (value.length > 256 && /^[A-Za-z0-9+/_=\s-]+$/.test(value) && !value.includes(' ')))

/** A name of a member that says nothing but what stands beside it. */
const isPlainName = (name: string): boolean => name.length <= 32 && /^[A-Za-z_$-]*$/.test(name)

export interface InputTexts {
  readonly texts: readonly InputText[]
  /** The body with texts replaced, by their place in `texts`; every byte beside them stays. */
  replace(replacements: ReadonlyMap<number, string>): JsonBody
}

export const inputTexts = (body: JsonBody): InputTexts => {
  const places: Place[] = [
    ...CONVERSATION.flatMap((field) => textsOf(body, field, () => true)),
    ...DESCRIBED.flatMap((field) => textsOf(body, field, ({ key }) => key === 'description' || key === 'title')),
  ]
  return {
    texts: places,
    replace(replacements) {
      const byField = new Map<string, { start: number; end: number; text: string }[]>()
      for (const [index, text] of [...replacements].sort(([left], [right]) => left - right)) {
        const place = places[index]
        if (place === undefined) continue
        const { start, end } = place.string
        const edits = byField.get(place.field) ?? []
        edits.push({ start, end, text: JSON.stringify(text) })
        byField.set(place.field, edits)
      }
      return body.with(Object.fromEntries([...byField].map(([field, edits]) => [field, spliceJson(body.raw(field) ?? '', edits)])))
    },
  }
}

const textsOf = (body: JsonBody, field: string, counts: (string: JsonString) => boolean): Place[] => {
  const raw = body.raw(field)
  if (raw === undefined) return []
  const elements = raw.startsWith('[') ? scanElements(raw) : []
  const byUser = speaker(field, raw, elements)
  const message = messageAt(field, elements)
  const places: Place[] = []
  for (const string of jsonStrings(raw)) {
    const { key, value, isKey, start } = string
    if (value === '' || !counts(string)) continue
    if (isKey ? isPlainName(value) : NO_TEXT.has(key) || isBytes(key, value)) continue
    const isJson = key === 'arguments' && !isKey && value.trimStart().startsWith('{')
    const said = byUser(start)
    places.push({ field, string, value, isJson, byUser: said, message: key === 'text' && !isKey ? message(start, said) : null })
  }
  return places
}

type Element = ReturnType<typeof scanElements>[number]

/** Which message a part at an offset belongs to. The user's own parts and results of tools are not one text. */
const messageAt = (field: string, elements: readonly Element[]): ((offset: number, byUser: boolean) => string | null) => {
  if (field === 'system' || field === 'prediction') return () => field
  if (field !== 'messages' && field !== 'input') return () => null
  let at = 0
  return (offset, byUser) => {
    while (at < elements.length && (elements[at]?.end ?? 0) <= offset) at += 1
    return `${field} ${at} ${byUser}`
  }
}

/** Whether what stands at an offset is the user's own words. Results of tools are not, whoever sends them. */
const speaker = (field: string, raw: string, elements: readonly Element[]): ((offset: number) => boolean) => {
  if (field === 'prompt') return () => true
  if (field !== 'messages' && field !== 'input') return () => false
  if (!raw.startsWith('[')) return () => true
  const own = elements.flatMap(({ start, end }): { start: number; end: number; results: readonly (readonly [number, number])[] }[] => {
    const element = raw.slice(start, end)
    if (!element.startsWith('{')) return [{ start, end, results: [] }]
    if (!says(element, 'role', 'user')) return []
    return [{ start, end, results: resultsIn(element).map(([from, to]) => [start + from, start + to] as const) }]
  })
  let at = 0
  return (offset) => {
    while (at < own.length && (own[at]?.end ?? 0) <= offset) at += 1
    const message = own[at]
    return message !== undefined && offset >= message.start && !message.results.some(([from, to]) => offset >= from && offset < to)
  }
}

/** A value may be written with escapes. */
const says = (element: string, member: string, word: string): boolean =>
  element.startsWith('{') && JSON.parse(rawMember(element, member) ?? 'null') === word

/** Where a user's message carries results of tools (Messages). */
const resultsIn = (message: string): readonly (readonly [number, number])[] => {
  const content = rawMember(message, 'content')
  if (content?.startsWith('[') !== true) return []
  const base = message.lastIndexOf(content)
  return scanElements(content).flatMap(({ start, end }) =>
    says(content.slice(start, end), 'type', 'tool_result') ? [[base + start, base + end] as const] : [],
  )
}
