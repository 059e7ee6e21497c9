/** The rules for the body of a Responses request. */
import { RESPONSES_FIELDS } from '../../request-fields/responses.ts'
import { bodySchema, requestRules } from '../request-rules.ts'

export const requestSchema = bodySchema(RESPONSES_FIELDS).meta({ id: 'ResponsesRequest' })

export const rules = requestRules('responses')
