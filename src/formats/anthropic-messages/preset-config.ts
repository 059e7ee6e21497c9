import { presetControlFields } from '../fields/preset-controls.ts'
import { presetReader } from '../preset-content.ts'
import { type FieldReader, leaveOut } from '../request-rules.ts'
import type { SystemSource } from '../system-text.ts'
import { requestSchema, rules } from './schema.ts'

export const presetBodySchema = requestSchema.extend(leaveOut(presetControlFields)).meta({ id: 'PresetFromMessages' })

/** The top-level `system`; system entries of `messages` go the way of `messages` (contract 1.4). */
const system = (field: FieldReader): readonly SystemSource[] => {
  const content = field('system')
  return content === undefined ? [] : [{ at: ['system'], content }]
}

export const presetContentOf = presetReader({ rules, systemSources: system })
