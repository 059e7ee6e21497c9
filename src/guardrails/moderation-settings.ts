/** The `moderation` part of the operator's file. */
import { z } from 'zod'

const moderationEndpoint = z
  .strictObject({
    kind: z
      .enum(['openai', 'webhook'])
      .default('openai')
      .meta({ description: "openai: OpenAI's moderation API, or one that speaks it. webhook: a service of your own." }),
    name: z.string().min(1).max(100).optional().meta({ description: 'Shown to clients as `provider_name`; the slug when absent.' }),
    url: z.url({ protocol: /^https?$/ }).meta({ description: 'The whole address that is asked.' }),
    api_key: z.string().min(1).optional().meta({ description: 'Sent as a bearer token, by kind openai.' }),
    model: z.string().min(1).default('omni-moderation-latest').meta({ description: 'Named in the request, by kind openai.' }),
    secret: z.string().min(16).optional().meta({ description: 'Signs each request (HMAC-SHA256), by kind webhook, which needs it.' }),
    timeout: z.number().min(0.1).max(60).default(5).meta({ description: 'Seconds in which the verdict must arrive.' }),
    on_failure: z
      .enum(['block', 'allow'])
      .default('block')
      .meta({ description: 'A request without a verdict: block refuses it (503), allow sends it on.' }),
  })
  .refine(({ kind, secret }) => kind !== 'webhook' || secret !== undefined, {
    path: ['secret'],
    message: 'A webhook needs a secret, or anyone could ask it in our name',
  })

export type ModerationEndpoint = z.output<typeof moderationEndpoint>

export const moderationSettings = z.strictObject({
  trusted_hosts: z
    .array(z.string().min(1).max(260))
    .default([])
    .meta({ description: 'Hosts (`host` or `host:port`) that may have private addresses and speak plain http.' }),
  endpoints: z.record(z.string().regex(/^[a-z0-9-]{1,64}$/, 'Use lower-case letters, digits and hyphens.'), moderationEndpoint).default({}),
})

export type ModerationSettings = z.output<typeof moderationSettings>
