/** Rollouts of presets on the wire (docs/contract/presets.md#rollouts). */
import { z } from 'zod'

import { haltRule } from './halt-rule.ts'
import { split } from './split.ts'

const timestamp = z.iso.datetime()

const SPLITS_MAX = 10

const sticky = z.enum(['session', 'user', 'key', 'none']).meta({
  description:
    'Who stays with a version: a session, a user, or an API key. A request that names none, and each with `none`, is drawn by itself.',
})

export const rolloutBody = z
  .strictObject({
    splits: z.array(split.strict()).min(1).max(SPLITS_MAX),
    sticky: sticky.default('session'),
    halt: z
      .union([haltRule, z.literal(false)])
      .optional()
      .meta({ description: 'When to go back to the live version by itself; false: never. The defaults hold when absent.' }),
  })
  .refine(({ splits }) => new Set(splits.map(({ version }) => version)).size === splits.length, {
    path: ['splits'],
    message: 'Name each version once.',
  })
  .refine(({ splits }) => splits.some(({ weight }) => weight > 0), { path: ['splits'], message: 'One weight at least is above 0.' })
  .meta({
    id: 'RolloutBody',
    examples: [
      {
        splits: [
          { version: 3, weight: 90 },
          { version: 4, weight: 10 },
        ],
        sticky: 'session',
      },
    ],
  })

const milliseconds = z.number().nullable()

const versionFigures = z.object({
  version: z.int(),
  weight: z.number(),
  requests: z.int(),
  errors: z.int(),
  error_rate: z.number().nullable(),
  cancelled: z.int(),
  ttft_p50: milliseconds.meta({ description: 'Milliseconds to the first content.' }),
  ttft_p95: milliseconds,
  total_p50: milliseconds,
  total_p95: milliseconds,
  cost: z.number(),
  cost_per_request: z.number().nullable(),
  guardrail_hits: z.int().meta({ description: 'Requests in which a guardrail found something.' }),
})

export const rollout = z
  .object({
    id: z.uuid().meta({ description: 'A new one for each change of the splits; records of requests name it.' }),
    state: z.enum(['running', 'halted', 'ended']),
    live_version: z.int().meta({ description: 'What the preset serves without the rollout.' }),
    splits: z.array(split),
    sticky,
    halt: z.union([haltRule, z.literal(false)]),
    started_at: timestamp,
    updated_at: timestamp.meta({ description: 'Since when these splits hold; the figures begin here.' }),
    ended_at: timestamp.nullable(),
    reason: z.string().nullable().meta({ description: 'Why it halted or ended; null while it runs, and if somebody ended it.' }),
    versions: z.array(versionFigures),
  })
  .meta({ id: 'Rollout' })

export type RolloutBody = z.output<typeof rolloutBody>
export type Sticky = z.output<typeof sticky>
export type VersionFigures = z.output<typeof versionFigures>
export type RolloutState = z.output<typeof rollout>['state']
