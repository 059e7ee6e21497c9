/** Moves pictures and files that tools returned into a user message after the results, for vendors whose results hold only text. */
import { type JsonObject, type JsonValue, objectsIn } from '../../lib/json/json.ts'
import { announced, introduced, type ToolNames } from '../media/tool-media.ts'
import { callsIn, contentOf, type PlacedMessage } from './placed-message.ts'

/** Returns the same messages if no tool returned any. */
export const withMediaBehindTools = (given: readonly PlacedMessage[]): readonly PlacedMessage[] => {
  if (!given.some(({ message }) => message['role'] === 'tool' && mediaIn(message).length > 0)) return given
  const tools: ToolNames = new Map(given.flatMap(({ message }) => callsIn(message).flatMap(namedCall)))
  const next: PlacedMessage[] = []
  let media: JsonValue[] = []
  for (const placed of given) {
    const { message, at } = placed
    if (message['role'] === 'tool') {
      const { tool_call_id: id } = message
      const tool = typeof id === 'string' ? tools.get(id) : undefined
      const held = mediaIn(message)
      if (held.length > 0) media.push({ type: 'text', text: introduced(tool) }, ...held)
      next.push(held.length === 0 ? placed : { at, message: withTextOnly(message, tool) })
      continue
    }
    const own = media.length > 0 && message['role'] === 'user'
    if (own) next.push({ at, message: { ...message, content: [...media, ...partsOf(message['content'])] } })
    else next.push(...mediaMessage(media, next), placed)
    media = []
  }
  return [...next, ...mediaMessage(media, next)]
}

const mediaIn = ({ content }: JsonObject): readonly JsonObject[] =>
  objectsIn(content).filter(({ type }) => type !== 'text' && type !== 'refusal')

const namedCall = ({ id, function: called, custom }: JsonObject): [string, string][] =>
  objectsIn([called ?? null, custom ?? null]).flatMap(({ name }): [string, string][] =>
    typeof id === 'string' && typeof name === 'string' ? [[id, name]] : [],
  )

const withTextOnly = (message: JsonObject, tool: string | undefined): JsonObject => {
  const texts = objectsIn(message['content']).filter(({ type }) => type === 'text')
  const [first] = texts
  if (first === undefined) return { ...message, content: announced(tool) }
  const silent = texts.every(({ text }) => typeof text === 'string' && text.trim() === '')
  return { ...message, content: contentOf(silent ? [{ ...first, text: announced(tool) }] : texts) }
}

/** A message with the media, placed after the last of `before`. */
const mediaMessage = (media: readonly JsonValue[], before: readonly PlacedMessage[]): readonly PlacedMessage[] =>
  media.length === 0 ? [] : [{ at: before.at(-1)?.at ?? 'messages', message: { role: 'user', content: media } }]

const partsOf = (content: JsonValue | undefined): readonly JsonValue[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return objectsIn(content)
}
