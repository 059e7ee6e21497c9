/** Who is signed in. */
import { queryOptions } from '@tanstack/react-query'

import type { CurrentSessionResource, SignInMethodsResource } from '../../../src/contract/session.ts'
import { ask } from './client.ts'
import { forgetSession, holdSession } from './session-half.ts'

/** `proof`: the token of a link, or a management key; neither is kept. Throws ApiError with 401 where it is none. */
export const signIn = async (proof: { token: string } | { key: string }): Promise<void> => {
  const { csrf } = await ask<{ csrf: string }>('/sessions', { method: 'POST', body: proof })
  holdSession(csrf)
}

export const signOut = async (): Promise<void> => {
  await ask('/sessions/current', { method: 'DELETE' })
  forgetSession()
}

export const currentSession = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => (await ask<{ data: CurrentSessionResource }>('/sessions/current', { signal })).data,
  staleTime: 60_000,
})

export const signInMethods = queryOptions({
  queryKey: ['sign-in methods'],
  queryFn: async ({ signal }) => (await ask<{ data: SignInMethodsResource }>('/sessions/methods', { signal })).data,
  staleTime: Infinity,
})

/** Takes the token of a link out of the address, so that neither the history nor a screenshot holds it. */
export const takeLoginToken = (): string | null => {
  const token = /^#login=([\w.~-]+)$/.exec(location.hash)?.[1] ?? null
  if (token !== null) history.replaceState(null, '', location.pathname + location.search)
  return token
}
