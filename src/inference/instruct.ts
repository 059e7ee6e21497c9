/** The rules of `alignment` in front of the conversation, for the model that is to keep them. */
import { addSystemPrompt } from '../formats/add-system-prompt.ts'
import { instructionOf, readAlignment } from '../plugins/alignment.ts'
import { readAgain } from './read-again.ts'
import type { Screened } from './stages.ts'

export const instructed = (screened: Screened): Screened => {
  const options = screened.plugins?.get('alignment')
  if (options === undefined) return screened
  const alignment = readAlignment(options)
  if (!alignment.instructs) return screened
  const { dialect, body } = screened.call
  const { changes } = addSystemPrompt(dialect, body, { shape: dialect, config: {}, systemPrompt: instructionOf(alignment) })
  return { ...screened, call: readAgain(screened, body.with(changes)) }
}
