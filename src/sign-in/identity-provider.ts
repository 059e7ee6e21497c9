/**
 * Sign-in at an identity provider: OpenID Connect's code flow with PKCE, state and nonce (docs/contract/sign-in.md#openid-connect). The
 * library handles the protocol; this code decides who the person is here.
 */
import type * as Library from 'oauth4webapi'
import { z } from 'zod'

import { userId } from '../contract/sign-in.ts'
import { asOneLine } from '../contract/stored-text.ts'
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
  /**
   * Throws `authentication` for anything but the end of this very sign-in, with the cause `Unreached` if the provider is at fault, and
   * `permission_denied` for a person who is not admitted.
   */
  finish(callback: URLSearchParams, begun: BegunSignIn, redirectUri: string): Promise<Identity>
}

/** The provider did not answer, answered with a 5xx, or is not the one that the settings name. */
export class Unreached extends Error {
  override readonly name = 'Unreached'
}

/** `fetch` must restrict the addresses and the time. */
export const createIdentityProvider = (settings: OidcSettings, send: Fetching): IdentityProvider => {
  const issuer = new URL(settings.issuer)
  const client: Library.Client = { client_id: settings.client_id }
  const fetch: Fetching = async (url, options) => {
    const answer = await orUnreached(() => send(url, options))
    if (answer.status >= 500) throw new Unreached(`It answered with ${answer.status}.`)
    return answer
  }
  const signInPage = z.url({ protocol: issuer.protocol === 'http:' ? /^https?$/ : /^https$/ })
  // Loaded on use, because most services configure no provider.
  const discover = async () => {
    const oauth = await import('oauth4webapi')
    const options = { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: issuer.protocol === 'http:' }
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oidc' }))
    return { oauth, options, server, authorizeAt: signInPage.parse(server.authorization_endpoint) }
  }
  // Strangers may begin as often as they like: whoever does meanwhile waits for the same answer.
  let discovering: ReturnType<typeof discover> | null = null
  const load = () => (discovering ??= orUnreached(discover).finally(() => void (discovering = null)))

  return {
    async begin(redirectUri) {
      const { oauth, authorizeAt } = await asked([], load)
      const begun = { state: oauth.generateRandomState(), nonce: oauth.generateRandomNonce(), verifier: oauth.generateRandomCodeVerifier() }
      const url = new URL(authorizeAt)
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
      const { oauth, options, server } = await asked([], load)
      const authentication = clientAuthentication(oauth, server, settings.client_secret)
      const claims = await asked(authentication.sent, async () => {
        const parameters = oauth.validateAuthResponse(server, client, callback, state)
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication.add,
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
        const confirmed = oauth.getValidatedIdTokenClaims(result)
        if (confirmed === undefined || server.userinfo_endpoint === undefined || !lacks(confirmed, settings)) return confirmed
        const info = await oauth.userInfoRequest(server, client, result.access_token, options)
        return completed(confirmed, await oauth.processUserInfoResponse(server, client, confirmed.sub, info))
      })
      return identityOf(claims ?? {}, settings)
    },
  }
}

/**
 * The secret is sent in the way that the provider takes: in the header if it says nothing of it (OpenID Connect Discovery 1.0,
 * `token_endpoint_auth_methods_supported`). `sent` holds what went out, which no answer may bring before a person.
 */
const clientAuthentication = (oauth: typeof Library, server: Library.AuthorizationServer, secret: string) => {
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const takesOnlyBody = methods.includes('client_secret_post') && !methods.includes('client_secret_basic')
  const authenticate = takesOnlyBody ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret)
  const sent = [secret, new URLSearchParams({ '': secret }).toString().slice(1)]
  const add: Library.ClientAuth = async (as, client, body, headers) => {
    await authenticate(as, client, body, headers)
    const credentials = headers.get('authorization')?.split(' ')[1]
    if (credentials !== undefined) sent.push(credentials)
  }
  return { add, sent }
}

/** Many providers put names, addresses and groups only where the access token is shown (OpenID Connect Core 1.0, section 5.4). */
const lacks = (claims: Claims, { allowed_domains: domains, role_claim: roleClaim }: OidcSettings): boolean =>
  (domains !== undefined && !ADDRESS.every((name) => name in claims)) || (roleClaim !== undefined && !(roleClaim in claims))

/** The token counts before the other answer. An address and its confirmation are taken from one of them. */
const completed = (claims: Claims, info: Claims): Claims => {
  const pair = ADDRESS.every((name) => name in claims) ? claims : info
  return { ...info, ...claims, email: pair['email'], email_verified: pair['email_verified'] }
}

type Claims = Readonly<Record<string, unknown>>

const ADDRESS = ['email', 'email_verified'] as const

const orUnreached = async <Found>(work: () => Promise<Found>): Promise<Found> => {
  try {
    return await work()
  } catch (cause) {
    throw cause instanceof Unreached ? cause : new Unreached(UNREACHED, { cause })
  }
}

/** `secrets`: a sentence of the provider that repeats one of them is not shown. */
const asked = async <Found>(secrets: readonly string[], work: () => Promise<Found>): Promise<Found> => {
  try {
    return await work()
  } catch (cause) {
    const word = wordOf(cause, secrets)
    const sentence = cause instanceof Unreached ? UNREACHED : UNCONFIRMED
    throw new GatewayError('authentication', word === null ? sentence : `The identity provider refused: ${word}`, { cause })
  }
}

const UNREACHED = 'The identity provider cannot be reached, or is not the one that auth.oidc.issuer names. Try again later.'
const UNCONFIRMED = 'The identity provider did not confirm this sign-in. Start it again.'

const refusalSchema = z.object({ error: z.string(), error_description: z.string().optional() })

const WORD_MAX = 300

/** The provider's own reason, which it gives by redirect once the person was there, and where it gives no token; null where it gave none. */
const wordOf = (cause: unknown, secrets: readonly string[]): string | null => {
  const outcome = refusalSchema.safeParse(cause)
  if (!outcome.success) return null
  const { error, error_description: description } = outcome.data
  const text = description === undefined ? error : `${description} (${error})`
  return secrets.some((secret) => text.includes(secret)) ? null : cutText(asOneLine(text), WORD_MAX)
}

const claimsSchema = z.object({
  sub: userId,
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

/** An address has somebody before its only `@`: a text that ends like one proves no domain. */
const DOMAIN = /^[^@\s]+@([^@\s]+)$/

/** The claim is one role, or a list of groups that contains it. */
const roleIn = (value: unknown): 'admin' | 'member' => ([value].flat().includes('admin') ? 'admin' : 'member')
