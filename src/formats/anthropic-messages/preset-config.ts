import { PRESET_CONTROLS } from '../../request-fields/preset-fields.ts'
import type { Findings } from '../findings.ts'
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

/** A preset with such a limit would fill a cache each time, and never answer (decisions/0281). */
const checkTogether = (field: FieldReader, findings: Findings): void => {
  rules.checkTogether(field, findings)
  if (field('max_tokens') === 0) findings.fault(['max_tokens'], 'A preset has to answer. Send 0 with each request that only fills a cache.')
}

export const presetContentOf = presetReader({ rules: { ...rules, checkTogether }, systemSources: system })
