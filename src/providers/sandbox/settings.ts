import { z } from 'zod'

import { validate } from '../../contract/validate.ts'
import { ERROR_TYPES } from '../../errors.ts'

/** Null if the model uses its own default. */
export interface SandboxSettings {
  readonly tokens: number | null
  readonly delayMs: number | null
  /** The turns of sandbox/agent, in order. */
  readonly script?: readonly AgentTurn[]
}

const TURNS_MAX = 100
const CALLS_MAX = 128

const call = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'The name of the tool that is called: that of a function, or the type of a tool that the service runs.' }),
  arguments: z
    .union([z.looseObject({}), z.string()])
    .default({})
    .meta({ description: 'An object, or any text in its place.' }),
})

const agentTurn = z
  .strictObject({
    text: z.string().max(100_000).optional(),
    call: call.optional(),
    calls: z.array(call).max(CALLS_MAX).optional(),
    fail: z.enum(ERROR_TYPES).optional().meta({ description: 'Fails with this type of error after the text.' }),
  })
  .meta({ description: 'One turn of the model.' })

export type AgentTurn = z.output<typeof agentTurn>

/** The schema of the body field `sandbox`, which only these models read. */
const settings = z.strictObject({
  tokens: z.int().min(1).max(10_000).nullish().meta({ description: 'Length of the text of sandbox/lorem.' }),
  script: z.array(agentTurn).max(TURNS_MAX).nullish().meta({ description: 'What sandbox/agent says and calls, turn by turn.' }),
  delay_ms: z.int().min(0).max(10_000).nullish().meta({ description: 'Time between tokens, of every sandbox model.' }),
})

/** Throws `invalid_request` naming the path at fault. */
export const readSandboxSettings = (value: unknown): SandboxSettings => {
  const { tokens = null, delay_ms: delayMs = null, script } = validate(settings, value ?? {}, ['sandbox'])
  return (script ?? null) === null ? { tokens, delayMs } : { tokens, delayMs, script: script ?? [] }
}
