/** The rules for the body of a Messages request. */
import { MESSAGES_FIELDS } from '../../request-fields/messages.ts'
import { DEFAULT_FALLBACKS } from '../../request-fields/schemas/routing.ts'
import type { Findings } from '../findings.ts'
import { bodySchema, type FieldReader, requestRules } from '../request-rules.ts'

export const requestSchema = bodySchema(MESSAGES_FIELDS).meta({ id: 'MessagesRequest' })

const checkTogether = (field: FieldReader, findings: Findings): void => {
  if (field('fallbacks') !== undefined && field('models') !== undefined) {
    findings.fault(['fallbacks'], 'It cannot be combined with models.')
  }
  if (field('fallbacks') === DEFAULT_FALLBACKS)
    findings.warn(
      'unsupported_field',
      ['fallbacks'],
      'The service has no fallback models of its own, so none is tried. List models to try.',
    )
}

export const rules = requestRules('messages', checkTogether)
