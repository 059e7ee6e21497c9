/** The values that may cross the border between JavaScript and either engine, so that both take and give the same. */
import { GatewayError } from '../errors.ts'

/** A number above 2^53 - 1 has lost digits: better no answer than a wrong amount of money. */
export const requireSafeInteger = (value: number): number => {
  if (!Number.isSafeInteger(value)) throw new RangeError(`The database holds an integer that is not exact in JavaScript: ${value}`)
  return value
}

/** PostgreSQL cannot hold U+0000 in text and SQLite can: the same request must not pass on one and fail on the other. */
export const refuseNulCharacters = (parameters: readonly unknown[]): void => {
  for (const parameter of parameters) {
    if (typeof parameter === 'string' && parameter.includes('\u0000')) {
      throw new GatewayError('invalid_request', 'Text may not contain the character U+0000.')
    }
  }
}

/** Booleans are 0 and 1 in both engines. */
export const flag = (value: boolean): number => (value ? 1 : 0)
