/** The health of the providers (docs/contract/management.md#provider-health). */
import { z } from 'zod'

const status = z.enum(['ok', 'degraded', 'down', 'unused'])
const share = z.number().min(0).max(100).nullable().meta({ description: 'In percent; null where there was no request.' })
const breaker = z.object({ state: z.enum(['closed', 'open', 'half-open']), until: z.iso.datetime().nullable() })
const lastError = z
  .object({
    at: z.iso.datetime(),
    type: z.string(),
    status: z.int().nullable(),
    message: z.string().nullable().meta({ description: 'Null outside of the default workspace: the request may be of another one.' }),
  })
  .nullable()
const strip = z
  .array(z.object({ at: z.iso.datetime(), ok: z.int(), failed: z.int() }))
  .meta({ description: 'The last 48 half hours, the current one last.' })
const latency = z
  .object({ p50: z.int().nullable(), p95: z.int().nullable() })
  .meta({ description: 'Milliseconds to the first content, in the last day.' })

const endpoint = z.object({
  model: z.string(),
  tag: z.string(),
  status,
  uptime: share,
  ttft: latency,
  strip,
  breaker,
  last_error: lastError,
})

export const providerHealth = z
  .object({
    slug: z.string(),
    name: z.string(),
    status,
    uptime: share,
    strip,
    breaker,
    last_error: lastError,
    credentials: z.array(
      z.object({
        label: z.string(),
        refused_at: z.iso.datetime().nullable().meta({ description: 'The provider refused it, and it rests.' }),
        rests_until: z.iso.datetime().nullable(),
      }),
    ),
    endpoints: z.array(endpoint),
  })
  .meta({ id: 'ProviderHealth' })
