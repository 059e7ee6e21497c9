/** The `moderation` part of the operator's file. */
import { z } from 'zod'

const shared = {
  name: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Shown to clients as `provider_name`; the key of the entry when absent.' }),
  url: z.url({ protocol: /^https?$/ }).meta({ description: 'The whole address that is asked.' }),
  timeout: z.number().min(0.1).max(60).default(5).meta({ description: 'Seconds until a verdict must be there.' }),
  on_failure: z
    .enum(['block', 'allow'])
    .default('block')
    .meta({ description: 'What happens to a request that could not be judged: block refuses it (503), allow sends it on.' }),
}

const moderationEndpoint = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('openai').meta({ description: "OpenAI's moderation API, or one that speaks it." }),
    ...shared,
    api_key: z.string().min(1).optional(),
    model: z.string().min(1).default('omni-moderation-latest'),
  }),
  z.strictObject({
    kind: z.literal('webhook').meta({ description: 'A service of your own; see docs/guardrails.md.' }),
    ...shared,
    secret: z.string().min(16).meta({ description: 'Signs each request (HMAC-SHA256).' }),
  }),
])

export type ModerationEndpoint = z.output<typeof moderationEndpoint>

export const moderationSettings = z.strictObject({
  trusted_hosts: z
    .array(z.string().min(1).max(260))
    .default([])
    .meta({ description: 'Hosts (`host` or `host:port`) that may have private addresses and speak plain http.' }),
  endpoints: z.record(z.string().regex(/^[a-z0-9-]{1,64}$/, 'Use lower-case letters, digits and hyphens.'), moderationEndpoint).default({}),
})

export type ModerationSettings = z.output<typeof moderationSettings>
