/** The `media` part of the operator's file. */
import { z } from 'zod'

export const mediaSettings = z.strictObject({
  fetch: z.boolean().default(false).meta({
    description:
      'Fetch pictures and files that a request names by their URL, for providers that take their bytes only. Otherwise such a request is refused.',
  }),
  trusted_hosts: z.array(z.string().min(1).max(260)).default([]).meta({
    description: 'Hosts (`host` or `host:port`) of private networks at which requests may name pictures, files and servers of tools.',
  }),
})
