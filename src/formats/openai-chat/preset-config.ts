import { isObject } from '../../lib/json/json.ts'
import { PRESET_CONTROLS } from '../../request-fields/preset-fields.ts'
import { presetReader } from '../preset-content.ts'
import { bodySchema, type FieldReader } from '../request-rules.ts'
import type { SystemSource } from '../system-text.ts'
import { requestSchema, rules } from './schema.ts'

export const presetBodySchema = requestSchema.extend(bodySchema(PRESET_CONTROLS).shape).meta({ id: 'PresetFromChat' })

/** Reads the leading system and developer messages; everything after them is the conversation (docs/contract/presets.md#system-prompt). */
const leadingSystemMessages = (field: FieldReader): readonly SystemSource[] => {
  const messages = field('messages')
  if (!Array.isArray(messages)) return []
  const sources: SystemSource[] = []
  for (const [index, message] of messages.entries()) {
    if (!isObject(message) || (message['role'] !== 'system' && message['role'] !== 'developer')) break
    sources.push({ at: ['messages', index, 'content'], content: message['content'] })
  }
  return sources
}

export const presetContentOf = presetReader({ rules, systemSources: leadingSystemMessages })
