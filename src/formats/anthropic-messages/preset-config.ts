import { PRESET_CONTROLS } from '../../request-fields/preset-fields.ts'
import { presetReader } from '../preset-content.ts'
import { bodySchema, type FieldReader } from '../request-rules.ts'
import type { SystemSource } from '../system-text.ts'
import { requestSchema, rules } from './schema.ts'

export const presetBodySchema = requestSchema.extend(bodySchema(PRESET_CONTROLS).shape).meta({ id: 'PresetFromMessages' })

/** The top-level `system`; system entries of `messages` go the way of `messages` (docs/contract/presets.md#system-prompt). */
const system = (field: FieldReader): readonly SystemSource[] => {
  const content = field('system')
  return content === undefined ? [] : [{ at: ['system'], content }]
}

export const presetContentOf = presetReader({ rules, systemSources: system })
