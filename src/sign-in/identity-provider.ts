/**
 * Sign-in at an identity provider: OpenID Connect's code flow with PKCE, state and nonce (docs/contract/sign-in.md#openid-connect). The
 * library handles the protocol; this code decides who the person is here.
 */
import type * as Library from 'oauth4webapi'
import { z } from 'zod'

import { GatewayError } from '../errors.ts'
import { cutText } from '../lib/text/cut-text.ts'
import type { OidcSettings } from './oidc-settings.ts'

/** The function that sends requests to the provider. */
type Fetching = (url: string, options: { readonly headers: Readonly<Record<string, string>>; readonly body?: unknown }) => Promise<Response>

/** The values that the browser keeps between the two halves of a sign-in. */
export interface BegunSignIn {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface Identity {
  /** The provider's own id for the person. */
  readonly userId: string
  /** Null if the provider does not decide the role. */
  readonly role: 'admin' | 'member' | null
}

export interface IdentityProvider {
  /** Returns the address to which the browser is sent. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly begun: BegunSignIn }>
  /** Throws `authentication` for anything but the end of this very sign-in, and `permission_denied` for a person who is not admitted. */
  finish(callback: URLSearchParams, begun: BegunSignIn, redirectUri: string): Promise<Identity>
}

/** `fetch` must restrict the addresses and the time. */
export const createIdentityProvider = (settings: OidcSettings, fetch: Fetching): IdentityProvider => {
  const issuer = new URL(settings.issuer)
  const client: Library.Client = { client_id: settings.client_id }
  // Loaded on use, because most services configure no provider.
  const load = async () => {
    const oauth = await import('oauth4webapi')
    const options = { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: issuer.protocol === 'http:' }
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oidc' }))
    return { oauth, options, server }
  }

  return {
    async begin(redirectUri) {
      const { oauth, server } = await asked(UNREACHED, load)
      const begun = { state: oauth.generateRandomState(), nonce: oauth.generateRandomNonce(), verifier: oauth.generateRandomCodeVerifier() }
      const url = new URL(server.authorization_endpoint ?? '')
      for (const [name, value] of Object.entries({
        client_id: settings.client_id,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'openid email profile',
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: 'S256',
      }))
        url.searchParams.set(name, value)
      return { url: url.href, begun }
    },
    async finish(callback, { state, nonce, verifier }, redirectUri) {
      const { oauth, options, server } = await asked(UNREACHED, load)
      const claims = await asked(UNCONFIRMED, async () => {
        const authentication = oauth.ClientSecretBasic(settings.client_secret)
        const parameters = oauth.validateAuthResponse(server, client, callback, state)
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          parameters,
          redirectUri,
          verifier,
          options,
        )
        const result = await oauth.processAuthorizationCodeResponse(server, client, response, {
          expectedNonce: nonce,
          requireIdToken: true,
        })
        await oauth.validateApplicationLevelSignature(server, response, options)
        return oauth.getValidatedIdTokenClaims(result)
      })
      return identityOf(claims ?? {}, settings)
    },
  }
}

const asked = async <Found>(sentence: string, work: () => Promise<Found>): Promise<Found> => {
  try {
    return await work()
  } catch (cause) {
    const word = wordOf(cause)
    throw new GatewayError('authentication', word === null ? sentence : `The identity provider refused: ${word}`, { cause })
  }
}

const UNREACHED = 'The identity provider cannot be reached, or is not the one that auth.oidc.issuer names. Try again later.'
const UNCONFIRMED = 'The identity provider did not confirm this sign-in. Start it again.'

const refusalSchema = z.object({ error: z.string(), error_description: z.string().optional() })

const WORD_MAX = 300

/** The provider's own reason, which it gives by redirect once the person was there, and where it gives no token; null where it gave none. */
const wordOf = (cause: unknown): string | null => {
  const outcome = refusalSchema.safeParse(cause)
  if (!outcome.success) return null
  const { error, error_description: description } = outcome.data
  return cutText(description === undefined ? error : `${description} (${error})`, WORD_MAX)
}

const claimsSchema = z.object({
  sub: z.string().min(1).max(256),
  email: z.string().nullish(),
  /** Some providers write it as a text. */
  email_verified: z.unknown().optional(),
})

const identityOf = (claims: object, { allowed_domains: domains, role_claim: roleClaim }: OidcSettings): Identity => {
  const outcome = claimsSchema.safeParse(claims)
  if (!outcome.success) throw new GatewayError('authentication', 'The identity provider did not say who signs in.')
  const { sub, email, email_verified: isVerified } = outcome.data
  if (domains !== undefined) {
    const domain = isVerified === true || isVerified === 'true' ? DOMAIN.exec(email ?? '')?.[1]?.toLowerCase() : undefined
    if (domain === undefined || !domains.some((allowed) => allowed.toLowerCase() === domain)) {
      throw new GatewayError(
        'permission_denied',
        'Only people with a verified email address in an allowed domain can sign in here. The operator lists the domains in auth.oidc.allowed_domains.',
      )
    }
  }
  return { userId: sub, role: roleClaim === undefined ? null : roleIn(Reflect.get(claims, roleClaim)) }
}

/** A text without somebody before its `@` is no address, even if it is the domain itself. */
const DOMAIN = /.@([^@]+)$/s

/** The claim is one role, or a list of groups that contains it. */
const roleIn = (value: unknown): 'admin' | 'member' => ([value].flat().includes('admin') ? 'admin' : 'member')
