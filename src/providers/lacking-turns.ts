/** Turns of the user that a conversation lacks, in dialects that refuse it without them. Each is told with a warning. */
import type { Losses } from './losses.ts'

interface Context extends Pick<Losses, 'mapped'> {
  /** As the warning names it. */
  readonly model: string
}

const FIRST_WORDS = 'The conversation begins with your answer.'
const LAST_WORDS = 'Go on with your answer from where it ends, and repeat nothing of it.'

/** Words to put before an answer at `at` that begins the conversation. */
export const firstWords = (at: string, { model, mapped }: Context): string => {
  mapped(at, `${model} wants the first word to be the user’s; a sentence was put before the answer.`)
  return FIRST_WORDS
}

/** Words to put behind the beginning of an answer at `at`, for a model that does not go on with one. */
export const lastWords = (at: string, { model, mapped }: Context): string => {
  mapped(at, `${model} does not go on with the beginning of an answer; it was asked to in the words of the user.`)
  return LAST_WORDS
}

/** Tells that system messages, of which there is nothing but, go out as the user's turn, since the dialect wants something to answer. */
export const tellSystemAlone = (at: string, { mapped }: Pick<Losses, 'mapped'>): void =>
  mapped(at, 'A conversation of system messages alone was sent as the turn of a user.')
