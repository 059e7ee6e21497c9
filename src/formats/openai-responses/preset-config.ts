import { presetControlFields } from '../fields/preset-controls.ts'
import { presetReader } from '../preset-content.ts'
import { type FieldReader, leaveOut } from '../request-rules.ts'
import type { SystemSource } from '../system-text.ts'
import { requestSchema, rules } from './schema.ts'

export const presetBodySchema = requestSchema.extend(leaveOut(presetControlFields)).meta({ id: 'PresetFromResponses' })

/** System items of `input` are not taken: input is never persisted (contract 1.4). */
const instructions = (field: FieldReader): readonly SystemSource[] => {
  const content = field('instructions')
  return typeof content === 'string' ? [{ at: ['instructions'], content }] : []
}

export const presetContentOf = presetReader({
  rules,
  systemSources: instructions,
  // A preset that continued an earlier response could never work, so it is refused now (decision 7).
  alsoChecked: ['instructions', 'previous_response_id'],
})
