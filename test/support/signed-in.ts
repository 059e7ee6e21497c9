/** A person who is signed in, and sends requests as a browser on the service's own page does. */
import { type Answer, call, type CallOptions } from './calls.ts'
import type { StartedService } from './started-service.ts'

export interface SignedIn {
  readonly cookie: string
  readonly csrf: string
  readonly sessionId: string
  /** Both halves of the session, with the headers of the service's own page. */
  readonly headers: Readonly<Record<string, string>>
  ask(method: string, path: string, options?: Omit<CallOptions, 'key'>): Promise<Answer>
}

export const openSession = (service: StartedService, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  call(service, 'POST', '/sessions', { key: null, body, headers })

export const signedIn = (service: StartedService, answer: Answer): SignedIn => {
  const { csrf, data } = answer.json as { csrf: string; data: { id: string } }
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const headers = { cookie, 'x-patchbay-csrf': csrf, 'sec-fetch-site': 'same-origin' }
  return {
    cookie,
    csrf,
    sessionId: data.id,
    headers,
    ask: (method, path, options = {}) =>
      call(service, method, path, { ...options, key: null, headers: { ...headers, ...options.headers } }),
  }
}

/** Signs in as an admin with the management key. */
export const signInByKey = async (service: StartedService, key = service.managementKey): Promise<SignedIn> =>
  signedIn(service, await openSession(service, { key }))

export interface LinkFor {
  readonly user_id: string
  readonly role?: string
  readonly workspace_id?: string
  readonly expires_in?: number
}

export const loginToken = async (service: StartedService, wanted: LinkFor): Promise<string> => {
  const { json } = await call(service, 'POST', '/login-links', { body: wanted })
  return new URL((json as { data: { url: string } }).data.url).hash.replace('#login=', '')
}

/** Signs in with a login link for the person. */
export const signInAs = async (service: StartedService, wanted: LinkFor): Promise<SignedIn> =>
  signedIn(service, await openSession(service, { token: await loginToken(service, wanted) }))
