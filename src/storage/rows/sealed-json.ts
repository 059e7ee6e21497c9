/** Sealed JSON that may be megabytes long: serialising, sealing, opening and parsing are separate steps. */
import { parseJsonInSteps, writeInSteps } from '../../lib/json/json-steps.ts'
import type { JsonValue } from '../../lib/json/json.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import type { TextSeal } from './seal.ts'

export function* sealJson(value: unknown, context: string, { seal }: TextSeal): Steps<string> {
  const text = yield* writeInSteps(value)
  if (text.length <= LARGE_BYTES) return seal(text, context)
  yield
  const sealed = seal(text, context)
  yield
  return sealed
}

/** Throws as `open` does. */
export function* openJson(sealed: string, context: string, { open }: TextSeal): Steps<JsonValue> {
  const text = open(sealed, context)
  if (text.length > LARGE_BYTES) yield
  return yield* parseJsonInSteps(text)
}
