import { PRESET_CONTROLS } from '../../request-fields/preset-fields.ts'
import { presetReader } from '../preset-content.ts'
import { bodySchema, type FieldReader } from '../request-rules.ts'
import type { SystemSource } from '../system-text.ts'
import { requestSchema, rules } from './schema.ts'

export const presetBodySchema = requestSchema.extend(bodySchema(PRESET_CONTROLS).shape).meta({ id: 'PresetFromMessages' })

/**
 * Reads the top-level `system`; system entries of `messages` are treated like the rest of `messages`
 * (docs/contract/presets.md#system-prompt).
 */
const system = (field: FieldReader): readonly SystemSource[] => {
  const content = field('system')
  return content === undefined ? [] : [{ at: ['system'], content }]
}

export const presetContentOf = presetReader({ rules, systemSources: system })
