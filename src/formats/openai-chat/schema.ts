/** The rules for the body of a Chat Completions request. */
import { isObject } from '../../lib/json/json.ts'
import { CHAT_FIELDS } from '../../request-fields/chat.ts'
import { type Findings, shortText } from '../findings.ts'
import { bodySchema, type FieldReader, requestRules } from '../request-rules.ts'

export const requestSchema = bodySchema(CHAT_FIELDS).meta({ id: 'ChatRequest' })

const checkTogether = (field: FieldReader, findings: Findings): void => {
  const effort = field('reasoning_effort')
  const reasoning = effort === undefined || effort === 'default' ? undefined : field('reasoning')
  const other = isObject(reasoning) ? (reasoning['effort'] ?? undefined) : undefined
  if (other !== undefined && other !== effort) findings.fault(['reasoning_effort'], 'It contradicts reasoning.effort.')
  warnOfUnknownTransforms(field('transforms'), findings)
}

/** Transforms are plugins under an older name, so an unknown one gets the same warning as an unknown plugin. */
const warnOfUnknownTransforms = (transforms: unknown, findings: Findings): void => {
  if (!Array.isArray(transforms)) return
  for (const [index, name] of transforms.entries()) {
    if (typeof name === 'string' && name !== 'middle-out')
      findings.warn('unknown_plugin', ['transforms', index], `There is no transform "${shortText(name)}"; there is middle-out.`)
  }
}

export const rules = requestRules('chat', checkTogether)
