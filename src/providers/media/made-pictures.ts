/**
 * Moves pictures that the assistant made, for dialects in which the assistant can only send text: they are put at the beginning of the
 * user's next message, so that the model sees what it is asked to change.
 */
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'

/** `lose`: called for pictures that no user message follows. */
export const withPicturesOfUser = (prompt: Prompt, lose: (field: string, message: string) => void): Prompt => {
  if (!prompt.messages.some(holdsPicture)) return prompt
  let moved: Part[] = []
  const messages = prompt.messages.map((message): Message => {
    if (holdsPicture(message)) {
      moved.push(...message.parts.filter(isPicture))
      return { ...message, parts: message.parts.filter((part) => !isPicture(part)) }
    }
    if (message.role !== 'user' || moved.length === 0) return message
    const pictures = moved
    moved = []
    // Results of calls have to come before everything else.
    const results = message.parts.filter(({ type }) => type === 'tool-result')
    const said = message.parts.filter(({ type }) => type !== 'tool-result')
    const word: Part = { type: 'text', text: pictures.length === 1 ? 'The picture that you made:' : 'The pictures that you made:' }
    return { ...message, parts: [...results, word, ...pictures, ...said] }
  })
  if (moved.length > 0) lose(prompt.messages.at(-1)?.at ?? 'messages', 'A picture of the assistant’s last turn was left out.')
  return { ...prompt, messages }
}

const isPicture = ({ type }: Part): boolean => type === 'image'

const holdsPicture = ({ role, parts }: Message): boolean => role === 'assistant' && parts.some(isPicture)
