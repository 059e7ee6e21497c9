/** The identity provider's settings in the configuration file. */
import { z } from 'zod'

export const oidcSettings = z.strictObject({
  issuer: z
    .url({ protocol: /^https?$/, error: 'Write the address of the issuer, such as https://login.example.com' })
    .meta({ description: 'The address of the identity provider, exactly as the provider itself writes it (its `issuer`).' }),
  client_id: z.string().min(1).max(512).meta({ description: 'The id under which the identity provider knows this service.' }),
  client_secret: z
    .string()
    .min(1)
    .max(2048)
    .meta({ description: 'The secret that the identity provider issued for this `client_id`; `${NAME}` takes it from a variable.' }),
  allowed_domains: z.array(z.string().min(1).max(253)).min(1).optional().meta({
    description:
      'Domains of confirmed mail addresses whose people may sign in. When absent, everybody whom the identity provider lets in may.',
  }),
  role_claim: z.string().min(1).max(100).optional().meta({
    description:
      'The claim of the identity provider that makes a person an admin: its value is `admin`, as a text or in a list. A person without it is a member. When absent, admins of the workspace set the roles here.',
  }),
  trusted_hosts: z
    .array(z.string().min(1).max(300))
    .default([])
    .meta({ description: 'Hosts of the provider, as `host` or `host:port`, that may have a private address and be asked without TLS.' }),
})

export type OidcSettings = z.output<typeof oidcSettings>
