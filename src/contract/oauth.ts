/** Keys for applications that a person authorises by OAuth with PKCE, on the wire (docs/contract/sign-in.md#applications). */
import { z } from 'zod'

import { resetInterval } from './budget.ts'
import { dollarAmount } from './dollar-amount.ts'
import { trimmedName } from './stored-text.ts'

const METHODS = ['S256', 'plain'] as const
export type ChallengeMethod = (typeof METHODS)[number]

const CALLBACK_MAX = 2048

/** HTTPS, or HTTP on this machine. The code must not be placed in a part of the URL that is displayed, stored or sent to others. */
const callbackUrl = z
  .string()
  .max(CALLBACK_MAX, { abort: true })
  .refine((text) => isCallback(URL.parse(text)), 'Use https, or http on localhost, 127.0.0.1 or [::1], without user, password or fragment.')

const isCallback = (url: URL | null): boolean => {
  if (url === null || url.username !== '' || url.password !== '' || url.href.includes('#')) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOCAL.has(url.hostname))
}

const LOCAL: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Unreserved characters, as RFC 7636 requires; padding is accepted because some libraries add it. */
const challenge = z
  .string()
  .max(256)
  .regex(/^[\w.~-]+={0,2}$/, 'Use letters, digits and -._~ as RFC 7636 says.')
const method = z.enum(METHODS)

const label = trimmedName(200)
const limit = dollarAmount.min(0)
const expiry = z.iso
  .datetime({ offset: true, error: 'Use ISO 8601 in UTC with seconds, e.g. 2027-01-31T00:00:00Z.', abort: true })
  .refine((text) => /:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]00:00)$/i.test(text), 'Use UTC with seconds, e.g. 2027-01-31T00:00:00Z.')

/** The query parameters of the consent page for an application's request. */
export const consentQuery = {
  callback_url: callbackUrl.optional().meta({ description: 'Where the code is sent; without it, the code is shown.' }),
  code_challenge: challenge.optional(),
  code_challenge_method: method.optional().meta({ description: 'S256 when absent.' }),
  key_label: label.optional(),
  limit: z
    .string()
    .regex(/^\d+(\.\d+)?$/, 'Use dollars, such as 0.05.')
    .transform(Number)
    .pipe(limit)
    .optional()
    .meta({ description: 'US dollars.' }),
  usage_limit_type: resetInterval.optional(),
  expires_at: expiry.optional(),
  workspace_id: z.string().max(64).optional(),
  state: z.string().max(1024).optional().meta({ description: 'Given back with the code.' }),
}

export const createCodeBody = z
  .strictObject({
    callback_url: callbackUrl.nullish(),
    code_challenge: challenge.nullish(),
    code_challenge_method: method.nullish().meta({ description: 'S256 when absent.' }),
    key_label: label.nullish().meta({ description: "The key's name; the host of `callback_url` when absent." }),
    limit: limit.nullish().meta({ description: 'US dollars that the key may spend.' }),
    usage_limit_type: resetInterval.nullish().meta({ description: 'How often the limit resets; never when absent.' }),
    expires_at: expiry.nullish().meta({ description: 'When the key expires.' }),
    workspace_id: z.string().max(64).nullish(),
  })
  .meta({
    id: 'CreateAuthCodeBody',
    examples: [{ callback_url: 'https://app.example.com/done', code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' }],
  })

export const authCode = z
  .object({
    id: z.string().meta({ description: 'The code itself; it is shown this once.' }),
    app_id: z.int(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'AuthCode' })

export const exchangeBody = z
  .strictObject({
    code: z.string().min(1).max(256),
    code_verifier: z.string().min(1).max(256).nullish(),
    code_challenge_method: z.string().max(20).nullish(),
  })
  .meta({
    id: 'ExchangeAuthCodeBody',
    examples: [
      {
        code: '2bnT0uYkXw7sHc2LmR9p4Qd1bVnT0uYkXw7sHc2LmR9',
        code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      },
    ],
  })

export const exchangedKey = z
  .object({ key: z.string().meta({ description: 'An inference key; it is shown this once.' }), user_id: z.string().nullable() })
  .meta({ id: 'ExchangedKey' })
