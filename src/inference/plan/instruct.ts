/**
 * Puts the rules of `alignment` in front of the conversation, for the model to follow. Throws `invalid_request` for a strict request that
 * would lose choices.
 */
import { addSystemPrompt } from '../../formats/add-system-prompt.ts'
import { instructionOf, readAlignment } from '../../plugins/alignment.ts'
import type { Steps } from '../../lib/steps.ts'
import { oneChoice } from '../one-choice.ts'
import { readAgain } from '../read-call.ts'
import { refuseLosses, type Screened } from '../request.ts'

export function* instructed(screened: Screened): Steps<Screened> {
  const options = screened.plugins?.get('alignment')
  if (options === undefined) return screened
  const alignment = readAlignment(options)
  const { dialect, body } = screened.call
  const losses = alignment.enforces ? oneChoice(body, 'Where alignment holds an answer back') : []
  refuseLosses(screened.strict, losses)
  const warned = losses.length === 0 ? screened : { ...screened, warnings: [...screened.warnings, ...losses] }
  if (!alignment.instructs) return warned
  const { changes } = addSystemPrompt(dialect, body, { shape: dialect, config: {}, systemPrompt: instructionOf(alignment) })
  return { ...warned, call: yield* readAgain(screened, yield* body.changing(changes)) }
}
