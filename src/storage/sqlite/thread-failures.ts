/** Failures that pass from a database thread to another thread: copying between threads loses our classes and members. */
import { ERROR_TYPES, GatewayError } from '../../errors.ts'
import { StorageConflict, StorageRefused, StorageUnavailable } from '../storage-errors.ts'

export interface EncodedFailure {
  readonly name: string
  readonly message: string
  /** The public error type of a failure that has one, such as a text that no engine can store; null otherwise. */
  readonly type: string | null
  readonly cause: EncodedFailure | null
}

const CAUSES_MAX = 3

export const encodeFailure = (thrown: unknown, depth = 0): EncodedFailure => {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown), type: null, cause: null }
  const cause = thrown.cause === undefined || depth === CAUSES_MAX ? null : encodeFailure(thrown.cause, depth + 1)
  return { name: thrown.name, message: thrown.message, type: thrown instanceof GatewayError ? thrown.type : null, cause }
}

export const decodeFailure = ({ name, message, type, cause: encoded }: EncodedFailure): Error => {
  const cause = encoded === null ? undefined : decodeFailure(encoded)
  const known = ERROR_TYPES.find((one) => one === type)
  if (known !== undefined) return new GatewayError(known, message, { cause })
  switch (name) {
    case 'StorageConflict':
      return new StorageConflict(cause)
    case 'StorageRefused':
      return new StorageRefused(message, { cause })
    case 'StorageUnavailable':
      return new StorageUnavailable(message, { cause })
    case 'RangeError':
      return new RangeError(message, { cause })
    default: {
      const error = new Error(message, { cause })
      error.name = name
      return error
    }
  }
}
