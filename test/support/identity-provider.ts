/** A small identity provider with real sockets and signed tokens, and options for every kind of bad token. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

import { afterAll } from 'bun:test'

export interface FakeIdentityProvider {
  readonly issuer: string
  /** In the form `host:port`. */
  readonly host: string
  /** Claims that override those of the next token. */
  claims: Record<string, unknown>
  /** If true, tokens are signed with an unpublished key. */
  forged: boolean
  /** Members that override those of the document that describes the provider; `userinfo_endpoint` is `<issuer>/person`. */
  metadata: Record<string, unknown>
  /** The claims at the address `/person`, which wants the access token. */
  person: Record<string, unknown>
  /** If true, the client's credentials are taken in the body alone. */
  wantsSecretInBody: boolean
  /** If true, an exchange is refused with a sentence that repeats what was sent. */
  repeats: boolean
  /** If true, its document cannot be had. */
  down: boolean
  /** How often a code was exchanged, or tried. */
  readonly exchanges: number
  /** How often its document was asked for. */
  readonly discoveries: number
  /** While this is set, the document is answered after it. */
  wait: Promise<void> | null
  /** Everything but the key as it was at first. */
  reset(): void
  /** Signs with a new key from now on, and publishes it. */
  rotateKey(): void
  /** The query with which a browser returns after the person signed in there. */
  authorize(url: string): URLSearchParams
}

const CLIENT = { id: 'patchbay', secret: 'a secret: with/signs' }
export const OIDC_CLIENT = CLIENT

interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly jwk: object
}

let keysMade = 0
const newKey = (): SigningKey => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const kid = `key-${(keysMade += 1)}`
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' } }
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** RFC 6749, 2.3.1, requires client names and secrets in this encoding. */
const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

export const startIdentityProvider = (): FakeIdentityProvider => {
  let key = newKey()
  const stranger = newKey()
  const codes = new Map<string, { readonly challenge: string; readonly nonce: string; readonly redirectUri: string }>()
  const initial = {
    claims: {} as Record<string, unknown>,
    forged: false,
    metadata: {} as Record<string, unknown>,
    person: {} as Record<string, unknown>,
    wantsSecretInBody: false,
    repeats: false,
    down: false,
    exchanges: 0,
    discoveries: 0,
    wait: null as Promise<void> | null,
  }
  const provider = {
    ...initial,
    authorize(url: string): URLSearchParams {
      const asked = new URL(url).searchParams
      const code = crypto.randomUUID()
      codes.set(code, {
        challenge: asked.get('code_challenge') ?? '',
        nonce: asked.get('nonce') ?? '',
        redirectUri: asked.get('redirect_uri') ?? '',
      })
      return new URLSearchParams({ code, state: asked.get('state') ?? '' })
    },
  }

  const token = (nonce: string): string => {
    const seconds = Math.floor(Date.now() / 1000)
    const claims = {
      iss: issuer,
      sub: 'ada-at-work',
      aud: CLIENT.id,
      exp: seconds + 300,
      iat: seconds,
      nonce,
      email: 'ada@corp.example',
      email_verified: true,
      ...provider.claims,
    }
    const text = `${part({ alg: 'RS256', kid: key.kid, typ: 'JWT' })}.${part(claims)}`
    return `${text}.${sign('sha256', Buffer.from(text), (provider.forged ? stranger : key).privateKey).toString('base64url')}`
  }

  const exchange = async (request: Request): Promise<Response> => {
    const form = new URLSearchParams(await request.text())
    const known = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const basic = Buffer.from((request.headers.get('authorization') ?? '').replace('Basic ', ''), 'base64')
      .toString()
      .split(':')
      .map(formDecoded)
    const [id, secret] = provider.wantsSecretInBody ? [form.get('client_id'), form.get('client_secret')] : basic
    if (provider.repeats) {
      const sent = `${request.headers.get('authorization') ?? ''} ${form.toString()}`
      return Response.json({ error: 'invalid_client', error_description: `unknown: ${sent}` }, { status: 401 })
    }
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (
      known === undefined ||
      id !== CLIENT.id ||
      secret !== CLIENT.secret ||
      challenge !== known.challenge ||
      form.get('redirect_uri') !== known.redirectUri
    ) {
      return Response.json({ error: 'invalid_grant' }, { status: 400 })
    }
    return Response.json({ access_token: 'opaque', token_type: 'Bearer', expires_in: 60, id_token: token(known.nonce) })
  }

  const server: Bun.Server<undefined> = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request): Promise<Response> {
      switch (new URL(request.url).pathname) {
        case '/.well-known/openid-configuration':
          provider.discoveries += 1
          await provider.wait
          if (provider.down) return new Response(null, { status: 503 })
          return Response.json({
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            jwks_uri: `${issuer}/keys`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256'],
            ...provider.metadata,
          })
        case '/person':
          return request.headers.get('authorization') === 'Bearer opaque'
            ? Response.json({ sub: 'ada-at-work', ...provider.person })
            : new Response(null, { status: 401 })
        case '/keys':
          return Response.json({ keys: [key.jwk] })
        case '/token':
          provider.exchanges += 1
          return exchange(request)
        // The page where a person signs in: this one signs everybody in at once.
        case '/authorize': {
          const callback = provider.authorize(request.url)
          return Response.redirect(`${new URL(request.url).searchParams.get('redirect_uri') ?? ''}?${callback.toString()}`)
        }
        default:
          return new Response(null, { status: 404 })
      }
    },
  })
  afterAll(() => server.stop(true))
  const host = `127.0.0.1:${String(server.port)}`
  const issuer = `http://${host}`

  return Object.assign(provider, {
    issuer,
    host,
    rotateKey() {
      key = newKey()
    },
    reset: () => void Object.assign(provider, initial),
  })
}
