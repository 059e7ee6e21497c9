/** The identity provider, as the file names it. */
import { z } from 'zod'

export const oidcSettings = z.strictObject({
  issuer: z
    .url({ protocol: /^https?$/, error: 'Write the address of the issuer, such as https://login.example.com' })
    .meta({ description: 'Its address, exactly as it names itself.' }),
  client_id: z.string().min(1).max(512),
  client_secret: z.string().min(1).max(2048),
  allowed_domains: z
    .array(z.string().min(1).max(253))
    .min(1)
    .optional()
    .meta({ description: 'Domains of confirmed addresses whose people may sign in; everybody whom the provider lets in when absent.' }),
  role_claim: z.string().min(1).max(100).optional().meta({
    description: 'The claim that says `admin`, as a text or in a list; who has none is a member. When absent, roles are given here.',
  }),
  trusted_hosts: z
    .array(z.string().min(1).max(300))
    .default([])
    .meta({ description: 'Hosts of the provider, as `host` or `host:port`, that may have a private address and be asked without TLS.' }),
})

export type OidcSettings = z.output<typeof oidcSettings>
