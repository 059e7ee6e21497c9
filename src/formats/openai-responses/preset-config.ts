import { PRESET_CONTROLS } from '../../request-fields/preset-fields.ts'
import { presetReader } from '../preset-content.ts'
import { bodySchema, type FieldReader } from '../request-rules.ts'
import type { SystemSource } from '../system-text.ts'
import { requestSchema, rules } from './schema.ts'

export const presetBodySchema = requestSchema.extend(bodySchema(PRESET_CONTROLS).shape).meta({ id: 'PresetFromResponses' })

/** Reads the instructions. System items of `input` are ignored, since input is never persisted (docs/contract/presets.md#system-prompt). */
const instructions = (field: FieldReader): readonly SystemSource[] => {
  const content = field('instructions')
  return typeof content === 'string' ? [{ at: ['instructions'], content }] : []
}

export const presetContentOf = presetReader({ rules, systemSources: instructions })
