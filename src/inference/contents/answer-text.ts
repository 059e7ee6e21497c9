/** The text of a stored answer, in whichever dialect it was given. */
import type { ClientDialect } from '../../canonical/call.ts'
import { isObject, type JsonObject, objectsIn } from '../../lib/json/json.ts'

export const answerText = (dialect: ClientDialect, answer: JsonObject): string => textOf[dialect](answer)

const textOf: Readonly<Record<ClientDialect, (answer: JsonObject) => string>> = {
  chat({ choices }) {
    const message = objectsIn(choices)[0]?.['message']
    const content = isObject(message) ? message['content'] : null
    return typeof content === 'string' ? content : ''
  },
  messages: ({ content }) => joinTexts(objectsIn(content), 'text'),
  responses: ({ output }) =>
    joinTexts(
      objectsIn(output).flatMap(({ content }) => objectsIn(content)),
      'output_text',
    ),
}

const joinTexts = (parts: readonly JsonObject[], type: string): string =>
  parts.flatMap((part) => (part['type'] === type && typeof part['text'] === 'string' ? [part['text']] : [])).join('')
