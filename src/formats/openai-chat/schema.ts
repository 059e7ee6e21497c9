/** The rules for the body of a Chat Completions request. */
import { isObject } from '../../lib/json.ts'
import { CHAT_FIELDS } from '../../request-fields/chat.ts'
import type { Findings } from '../findings.ts'
import { bodySchema, type FieldReader, requestRules } from '../request-rules.ts'

export const requestSchema = bodySchema(CHAT_FIELDS).meta({ id: 'ChatRequest' })

const checkTogether = (field: FieldReader, findings: Findings): void => {
  const effort = field('reasoning_effort')
  const reasoning = effort === undefined ? undefined : field('reasoning')
  const other = isObject(reasoning) ? (reasoning['effort'] ?? undefined) : undefined
  if (other !== undefined && other !== effort) findings.fault(['reasoning_effort'], 'It contradicts reasoning.effort.')
}

export const rules = requestRules('chat', checkTogether)
