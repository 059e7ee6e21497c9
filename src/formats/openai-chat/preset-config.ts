import { isObject } from '../../lib/json.ts'
import { presetControlFields } from '../fields/preset-controls.ts'
import { presetReader } from '../preset-content.ts'
import { type FieldReader, leaveOut } from '../request-rules.ts'
import type { SystemSource } from '../system-text.ts'
import { requestSchema, rules } from './schema.ts'

export const presetBodySchema = requestSchema.extend(leaveOut(presetControlFields)).meta({ id: 'PresetFromChat' })

/** System and developer messages up to the first other one; what follows is the conversation (contract 1.4). */
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
