/** Restricts the values that may pass between JavaScript and the engines, so that both engines take and return the same. */
import { GatewayError } from '../../errors.ts'

/** A number above 2^53 - 1 has lost digits: no answer is better than a wrong amount of money. */
export const requireSafeInteger = (value: number): number => {
  if (!Number.isSafeInteger(value)) throw new RangeError(`The database holds an integer that is not exact in JavaScript: ${value}`)
  return value
}

/** PostgreSQL cannot store U+0000 in text but SQLite can: the same request must not pass on one and fail on the other. */
export const refuseNulCharacters = (parameters: readonly unknown[]): void => {
  for (const parameter of parameters) {
    if (typeof parameter === 'string' && parameter.includes('\u0000')) {
      throw new GatewayError('invalid_request', 'Text may not contain the character U+0000.')
    }
  }
}

/** Booleans are 0 and 1 in both engines. */
export const flag = (value: boolean): number => (value ? 1 : 0)
