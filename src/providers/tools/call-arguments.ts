import { isObject } from '../../lib/json/json.ts'

/**
 * JSON text of a call's arguments as an upstream gives them: some write an object where their dialect has text, or text where it has an
 * object. Empty if there are none.
 */
export const callArguments = (value: unknown): string => {
  if (typeof value === 'string') return value
  return isObject(value) ? JSON.stringify(value) : ''
}
