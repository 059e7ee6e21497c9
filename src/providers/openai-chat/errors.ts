/** Failures of Chat Completions upstreams, also of those that are routers themselves, as typed errors. */
import type { ErrorType, GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import { failureError, parseOrNull, readErrorBody, typeOfRouter, typeOfStatus, type ProviderFailure } from '../classify-failure.ts'
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

const routerType = (body: unknown): ErrorType | null => {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {}
  return typeOfRouter(isObject(error['metadata']) ? error['metadata']['error_type'] : undefined)
}
