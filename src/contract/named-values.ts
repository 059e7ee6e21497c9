import { z } from 'zod'

import { isObject } from '../lib/json/json.ts'

/** zod's record passes over this name in silence, so that a value that was sent would not be there. */
const FORBIDDEN_NAME = '__proto__'

/** An object whose members the client names. */
export const namedValues = <Name extends z.core.$ZodRecordKey, Value extends z.ZodType>(name: Name, value: Value) =>
  z.preprocess(refuseForbidden, z.record(name, value))

const refuseForbidden = (given: unknown, { addIssue }: z.core.$RefinementCtx): unknown => {
  if (!isObject(given) || !Object.hasOwn(given, FORBIDDEN_NAME)) return given
  addIssue({ code: 'custom', path: [FORBIDDEN_NAME], message: 'This name is not allowed.' })
  return z.NEVER
}
