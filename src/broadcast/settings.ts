/** The `observability` part of the operator's file. */
import { z } from 'zod'

export const observabilitySettings = z.strictObject({
  trusted_hosts: z.array(z.string().min(1).max(260)).default([]).meta({
    description:
      'Hosts (`host` or `host:port`) of collectors that may have private addresses and speak plain http, and of providers that are sent `traceparent`.',
  }),
})
