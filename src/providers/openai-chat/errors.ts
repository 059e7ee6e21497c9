/** Failures of Chat Completions upstreams, also of those that are routers themselves, as typed errors. */
import { ERROR_TYPES, type ErrorType, type GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { failureError, readErrorBody, typeOfStatus, type ProviderFailure } from '../classify-failure.ts'
import { typeOfOpenaiCode } from '../openai-error-codes.ts'
import type { Target } from '../provider.ts'

/** `status` is that of the response, or 200 for an error inside a body or a stream. */
export const chatFailure = (status: number, bodyText: string, target: Target, retryAfterSeconds?: number): GatewayError => {
  const body = parseOrNull(bodyText)
  const { code, message } = readErrorBody(body)
  const told = Number(isObject(body) && isObject(body['error']) ? body['error']['code'] : Number.NaN)
  const effective = status === 200 ? (Number.isInteger(told) && told >= 400 && told < 600 ? told : 502) : status
  const failure: ProviderFailure = { status: effective, code, message, raw: bodyText, retryAfterSeconds }
  return failureError(failure, routerType(body) ?? typeOfOpenaiCode(code, message, effective) ?? typeOfStatus(effective), target)
}

/** An upstream of our own kind has typed its error already. */
const routerType = (body: unknown): ErrorType | null => {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {}
  const told = isObject(error['metadata']) ? error['metadata']['error_type'] : undefined
  const type = ERROR_TYPES.find((known) => known === told)
  // What it says of a credential or of credits is about ours with it, not about the client's with us.
  return type === undefined || type === 'authentication' || type === 'payment_required' || type === 'permission_denied' ? null : type
}

const parseOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null // an HTML page, or nothing: the status speaks
  }
}
