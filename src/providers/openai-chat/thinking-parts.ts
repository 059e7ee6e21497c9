/** Thinking as parts of a message's content, which is the form of Mistral and of its clients. */
import { isObject, type JsonObject, type JsonValue, listOf } from '../../lib/json/json.ts'

export const thinkingPart = (text: string): JsonObject => ({ type: 'thinking', thinking: [{ type: 'text', text }] })

export const isThinkingPart = (part: JsonValue): boolean => isObject(part) && part['type'] === 'thinking'

/** Puts thinking before the words of a message. One that has parts of thinking already, or says and calls nothing, stays as it is. */
export const withThinkingPart = (message: JsonObject, text: string): JsonObject => {
  const { content = null, tool_calls: calls } = message
  const said = typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : listOf(content)
  if (said.some(isThinkingPart) || (said.length === 0 && listOf(calls).length === 0)) return message
  return { ...message, content: [thinkingPart(text), ...said] }
}

/** Moves thinking out of the content into the member that every client has for it. */
export const withoutThinkingParts = (message: JsonObject): JsonObject => {
  const parts = listOf(message['content'])
  const said = parts.filter((part) => !isThinkingPart(part))
  const text = parts.map((part) => (isObject(part) && isThinkingPart(part) ? textOfThinking(part) : '')).join('')
  return { ...message, content: said.length === 0 ? null : said, ...(message['reasoning'] === undefined ? { reasoning: text } : {}) }
}

/** `thinking` is a list of texts and references, or a text. */
export const textOfThinking = ({ thinking }: Readonly<Record<string, unknown>>): string =>
  typeof thinking === 'string'
    ? thinking
    : listOf(thinking)
        .map((piece) => (isObject(piece) && typeof piece['text'] === 'string' ? piece['text'] : ''))
        .join('')
