/**
 * Reads an assistant message: its thinking, text, images and calls, in this order if its thinking records no places
 * (docs/contract/chat-completions.md#messages).
 */
import type { Part, UrlCitation } from '../../canonical/prompt.ts'
import { isObject, objectsIn, textOf } from '../../lib/json/json.ts'
import { child, children, member, type Node, optionalChild, optionalText, requiredText, whole } from '../json-node.ts'
import {
  type PartReaders,
  passOverDirectCaller,
  readAnnotations,
  readContent,
  readerFor,
  unknownAt,
  unknownPart,
} from '../prompt-reader.ts'
import { CONTENT_PARTS } from './content-parts.ts'
import { BEHIND_WORDS, inOrderOfAnswer } from './answer-order.ts'
import { withSources } from './place-sources.ts'
import { readReasoning, type Thought } from './read-reasoning.ts'

export const readAssistant = (message: Node): readonly Part[] => {
  const refusal = optionalText(message, 'refusal')
  const calls = children(message, 'tool_calls').map(readToolCall)
  const thoughts = readReasoning(message, new Set(calls.flatMap((call) => (call.type === 'tool-call' ? [call.id] : []))))
  const { parts: content, urls } = readAssistantContent(message)
  const said = [
    ...content,
    ...(refusal === null ? [] : [{ type: 'refusal', text: refusal } as const]),
    ...children(message, 'images').flatMap((image) => readerFor(CONTENT_PARTS, 'image_url')?.(image) ?? []),
    ...NO_WORD.filter((key) => isThere(message, key)).map((key) => unknownAt(key, `${message.path}.${key}`)),
  ]
  const parts = inOrderOfAnswer(calls.length > 0 ? lastTurnBehindWords(thoughts) : thoughts, said, calls)
  return withSources(parts, urls, onlyText(content))
}

const onlyText = (parts: readonly Part[]): string | null => {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === 1 ? (texts[0] ?? null) : null
}

/** Calls that the service ran in the same turn as calls of the client follow the text if they record no place. */
const lastTurnBehindWords = (thoughts: readonly Thought[]): readonly Thought[] => {
  const first = thoughts.findIndex(({ parts }) => parts.some((part) => part.type === 'tool-call' && part.ran?.besideCalls === true))
  return first < 0
    ? thoughts
    : thoughts.map((thought, index) => (index < first || thought.place !== null ? thought : { ...thought, place: BEHIND_WORDS }))
}

/** Members without a canonical form: speech that is referenced by its id, and the predecessor of `tool_calls`. */
const NO_WORD = ['audio', 'function_call']

/** The members that an assistant message may have instead of `content`. */
const BESIDE_CONTENT = [
  'tool_calls',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'thinking_blocks',
  'images',
  ...NO_WORD,
]

const isThere = (message: Node, key: string): boolean => member(message, key) !== undefined

/** Mistral's client sends back its thinking among the words. */
const ASSISTANTS_PARTS: PartReaders = {
  ...CONTENT_PARTS,
  thinking(part) {
    // The references in it and its other members mean nothing without their provider.
    const { thinking } = whole(part)
    const text =
      typeof thinking === 'string'
        ? thinking
        : objectsIn(thinking)
            .map((piece) => textOf(piece['text']))
            .join('')
    return text === '' ? [] : [{ type: 'reasoning', text }]
  },
}

/** Reads the content and the sources beside it. */
const readAssistantContent = (message: Node): { readonly parts: readonly Part[]; readonly urls: readonly UrlCitation[] } => {
  const { content } = message.members
  const absent = content === undefined && BESIDE_CONTENT.some((key) => isThere(message, key))
  const parts = content === null || absent ? [] : readContent(message, 'content', ASSISTANTS_PARTS)
  const { urls, others } = readAnnotations(message, (annotation) => child(annotation, 'url_citation'))
  return { parts: [...parts, ...others], urls }
}

const readToolCall = (call: Node): Part => {
  passOverDirectCaller(call)
  const type = optionalText(call, 'type') ?? 'function'
  if (type === 'custom') {
    const custom = child(call, type)
    return {
      type: 'tool-call',
      id: requiredText(call, 'id'),
      name: requiredText(custom, 'name'),
      arguments: optionalText(custom, 'input') ?? '',
      custom: true,
    }
  }
  if (type !== 'function') return unknownPart(type, call)
  const target = child(call, 'function')
  const signature = thoughtSignature(call)
  return {
    type: 'tool-call',
    id: requiredText(call, 'id'),
    name: requiredText(target, 'name'),
    arguments: readArguments(target),
    ...(signature === null ? {} : { proof: { format: 'google-gemini-v1', kind: 'signature', data: signature } }),
  }
}

/** Mistral's client may send the arguments as an object, which counts as its JSON text. */
const readArguments = (target: Node): string => {
  const value = member(target, 'arguments')
  return isObject(value) ? JSON.stringify(value) : (optionalText(target, 'arguments') ?? '{}')
}

/** Google's variant of this dialect keeps the proof of a call here. */
const thoughtSignature = (call: Node): string | null => {
  const extra = optionalChild(call, 'extra_content')
  const google = extra === null ? null : optionalChild(extra, 'google')
  return google === null ? null : optionalText(google, 'thought_signature')
}
