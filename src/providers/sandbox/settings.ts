import { z } from 'zod'

import { validate } from '../../contract/validate.ts'

/** Null: as the model does by itself. */
export interface SandboxSettings {
  readonly tokens: number | null
  readonly delayMs: number | null
}

/** The body field `sandbox`, which only these models read. */
const settings = z.strictObject({
  tokens: z.int().min(1).max(10_000).nullish().meta({ description: 'Length of the text of sandbox/lorem.' }),
  delay_ms: z.int().min(0).max(10_000).nullish().meta({ description: 'Time between tokens, of every sandbox model.' }),
})

/** Throws `invalid_request` naming the path at fault. */
export const readSandboxSettings = (value: unknown): SandboxSettings => {
  const { tokens = null, delay_ms: delayMs = null } = validate(settings, value ?? {}, ['sandbox'])
  return { tokens, delayMs }
}
