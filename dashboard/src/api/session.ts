/** Who is signed in. */
import { queryOptions } from '@tanstack/react-query'

import type { CurrentSessionResource, SignInMethodsResource } from '../../../src/contract/session.ts'
import { PAGE_BASE } from '../page.ts'
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

/**
 * Takes the token of a link out of the address, so that neither the history nor a screenshot holds it. Who was at the identity provider comes
 * back to where they were.
 */
export const takeLoginToken = (): string | null => {
  const token = /^#login=([\w.~-]+)$/.exec(location.hash)?.[1] ?? null
  if (token === null) return null
  history.replaceState(null, '', sessionStorage.getItem(PLACE) ?? location.pathname + location.search)
  sessionStorage.removeItem(PLACE)
  return token
}

/** The tab has it, and no address: nobody can send somebody elsewhere by it. */
const PLACE = 'patchbay.place'

/** Before the tab leaves for the identity provider. A refusal there leads back to the first screen, which nobody chose: an earlier place stays. */
export const keepPlace = (): void => {
  const place = location.pathname + location.search
  if (place.replace(/\/$/, '') !== PAGE_BASE) sessionStorage.setItem(PLACE, place)
}
