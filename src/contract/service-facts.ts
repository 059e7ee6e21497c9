/** Facts about the service itself, for operators (docs/contract/management.md#service-facts). */
import { z } from 'zod'
import { jsonValue } from './json-value.ts'

const effectiveSetting = z
  .object({
    name: z.string().meta({ description: 'As in the file; of a setting of the start, its flag or its variable.' }),
    value: jsonValue.meta({ description: '`[set]` for a secret.' }),
    source: z.enum(['flag', 'variable', 'file', 'default', 'memory']).meta({
      description: '`memory`: the file, or the default, allows more than fits into the memory of the process.',
    }),
    place: z
      .string()
      .nullable()
      .meta({ description: 'The flag, the variable, or the file with its line; of `memory`, its size and what was set.' }),
  })
  .meta({ id: 'EffectiveSetting' })

export const serviceFacts = z
  .object({
    version: z.string(),
    engine: z.enum(['sqlite', 'postgres']),
    started_at: z.iso.datetime(),
    processes: z.array(z.object({ id: z.string(), started_at: z.iso.datetime().nullable(), seen_at: z.iso.datetime() })),
    switches: z.record(z.string(), z.boolean()),
    settings: z.array(effectiveSetting),
    audit_objects: z.array(z.string()).meta({ description: 'The kinds of objects that entries of the audit log are about.' }),
    config_errors: z
      .array(z.string())
      .meta({ description: 'Why the file was not taken when it was read again; the one before it stays in force.' }),
  })
  .meta({ id: 'ServiceFacts' })

export type EffectiveSetting = Omit<z.output<typeof effectiveSetting>, 'value'> & { readonly value: unknown }

export interface ServiceKnowledge {
  readonly engine: 'sqlite' | 'postgres'
  /** ISO timestamp. */
  readonly startedAt: string
  processes(): readonly { readonly id: string; readonly startedAt: string | null; readonly seenAt: string }[]
  switches(): Readonly<Record<string, boolean>>
  settings(): readonly EffectiveSetting[]
  configErrors(): readonly string[]
}
