/** Sessions of people, and the links that start them, on the wire (docs/contract/sign-in.md). */
import { z } from 'zod'

import { LINK_SECONDS, userId } from './sign-in.ts'
import { memberRole } from './workspace.ts'

const timestamp = z.iso.datetime()

export const sessionId = z.string().min(1).max(64).meta({ description: 'Id of a session; it opens nothing.' })

export const session = z
  .object({
    id: sessionId,
    workspace_id: z.string(),
    user_id: z.string(),
    role: memberRole,
    key_hash: z.string().nullable().meta({ description: 'The management key that it was opened with, and ends with.' }),
    user_agent: z.string().nullable(),
    created_at: timestamp,
    last_used_at: timestamp.meta({ description: 'To the minute.' }),
    expires_at: timestamp.meta({ description: 'Each use moves it on to twelve hours later, up to seven days after the sign-in.' }),
    is_current: z.boolean(),
  })
  .meta({ id: 'Session', description: 'A person who is signed in.' })

export const currentSession = session
  .extend({
    user_name: z.string().nullable().meta({ description: 'The name of the person in the workspace; null where none is known.' }),
    workspace: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
    is_operator: z.boolean().meta({ description: 'An admin of the default workspace: of the whole installation.' }),
  })
  .meta({ id: 'CurrentSession' })

export const openSessionBody = z
  .strictObject({ token: z.string().min(1).max(512).optional(), key: z.string().min(1).max(512).optional() })
  .refine(({ token, key }) => (token === undefined) !== (key === undefined), 'Send either token or key.')
  .meta({
    id: 'OpenSessionBody',
    examples: [{ token: '2bnT0uYkXw7sHc2LmR9p4Qd1bVnT0uYkXw7sHc2LmR9' }],
    description: 'The token of a sign-in link, or a management key.',
  })

export const openedSession = z
  .object({
    csrf: z
      .string()
      .meta({ description: 'The second half of the session, for the header X-Patchbay-CSRF of every request; it is shown this once.' }),
    data: currentSession,
  })
  .meta({ id: 'OpenedSession' })

export const signInMethods = z
  .object({
    link: z.literal(true).meta({ description: 'A sign-in link: from an admin, or from `patchbay login` on the machine of the service.' }),
    key: z.literal(true).meta({ description: 'A management key.' }),
    oidc: z
      .object({
        issuer: z.string().meta({ description: 'The identity provider, as it names itself.' }),
        url: z.string().meta({ description: 'Where a browser begins.' }),
      })
      .nullable()
      .meta({ description: 'Null where the service names no identity provider.' }),
  })
  .meta({ id: 'SignInMethods' })

const HOUR_SECONDS = 60 * 60

export const createLoginLinkBody = z
  .strictObject({
    user_id: userId.meta({ description: 'The person; somebody new becomes a member of the workspace.' }),
    role: memberRole
      .nullish()
      .meta({ description: "The person's role from now on; when absent, the one that the person has, `member` for somebody new." }),
    workspace_id: z.string().max(64).nullish().meta({ description: "Id or slug; the caller's own when absent." }),
    expires_in: z
      .int()
      .min(1)
      .max(24 * HOUR_SECONDS)
      .default(LINK_SECONDS)
      .meta({ description: 'Seconds.' }),
  })
  .meta({ id: 'CreateLoginLinkBody', examples: [{ user_id: 'ada@example.com', role: 'member' }] })

export const loginLink = z
  .object({
    id: z.string(),
    url: z.string().meta({ description: 'Opens one session, once; it is shown this once.' }),
    workspace_id: z.string(),
    user_id: z.string(),
    role: memberRole,
    expires_at: timestamp,
  })
  .meta({ id: 'LoginLink' })

export type SessionResource = z.output<typeof session>
export type SignInMethodsResource = z.output<typeof signInMethods>
export type CurrentSessionResource = z.output<typeof currentSession>
