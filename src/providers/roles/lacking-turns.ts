/** Adds user turns that a conversation lacks, for dialects that refuse it without them. Each one is reported with a warning. */
import type { Losses } from '../losses/losses.ts'

interface Context extends Pick<Losses, 'mapped'> {
  /** The model's name for the warning. */
  readonly model: string
}

const FIRST_WORDS = 'The conversation begins with your answer.'
const LAST_WORDS = 'Go on with your answer from where it ends, and repeat nothing of it.'

/** Words to put before an answer at `at` with which the conversation begins. */
export const firstWords = (at: string, { model, mapped }: Context): string => {
  mapped(at, `${model} wants the first word to be the user’s; a sentence was put before the answer.`)
  return FIRST_WORDS
}

/** Words to put after the beginning of an answer at `at`, for a model that does not continue one by itself. */
export const lastWords = (at: string, { model, mapped }: Context): string => {
  mapped(at, `${model} does not go on with the beginning of an answer; it was asked to in the words of the user.`)
  return LAST_WORDS
}

/** Warns that a conversation of system messages alone is sent as the user's turn, since the dialect needs something to answer. */
export const tellSystemAlone = (at: string, { mapped }: Pick<Losses, 'mapped'>): void =>
  mapped(at, 'A conversation with only system messages was sent as the turn of a user.')
