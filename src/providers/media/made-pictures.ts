/**
 * Moves pictures that the assistant made, for dialects in which the assistant can only send text: they are put at the beginning of the
 * user's next message, so that the model sees what it is asked to change.
 */
import type { Message, Part } from '../../canonical/prompt.ts'

/** `lose`: called for pictures that no user message follows. `says`: makes the part that introduces the pictures. */
export const withPicturesOfUser = (
  given: readonly Message[],
  lose: (field: string, message: string) => void,
  says: (text: string) => Part = (text) => ({ type: 'text', text }),
): readonly Message[] => {
  if (!given.some(holdsPicture)) return given
  let moved: Part[] = []
  const messages = given.map((message): Message => {
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
    const word = says(pictures.length === 1 ? 'The picture that you made:' : 'The pictures that you made:')
    return { ...message, parts: [...results, word, ...pictures, ...said] }
  })
  if (moved.length > 0) lose(given.at(-1)?.at ?? 'messages', 'A picture of the assistant’s last turn was left out.')
  return messages
}

const isPicture = ({ type }: Part): boolean => type === 'image'

const holdsPicture = ({ role, parts }: Message): boolean => role === 'assistant' && parts.some(isPicture)
