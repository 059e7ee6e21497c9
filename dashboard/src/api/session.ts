/** The sign-in, and the person who is signed in. */
import { queryOptions } from '@tanstack/react-query'

import type { CurrentSessionResource, SignInMethodsResource } from '../../../src/contract/session.ts'
import { PAGE_BASE } from '../page.ts'
import { ask, askData } from './client.ts'
import { forgetSession, holdSession } from './session-half.ts'

/** `proof`: the token of a link, or a management key; neither is kept. Throws ApiError with 401 if it is not valid. */
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
  queryFn: ({ signal }) => askData<CurrentSessionResource>('/sessions/current', { signal }),
  staleTime: 60_000,
})

export const signInMethods = queryOptions({
  queryKey: ['sign-in methods'],
  queryFn: ({ signal }) => askData<SignInMethodsResource>('/sessions/methods', { signal }),
  staleTime: Infinity,
})

/**
 * Takes the token of a login link out of the address, so that neither the history nor a screenshot holds it. Somebody who comes back from
 * the identity provider is returned to the screen where they were.
 */
export const takeLoginToken = (): string | null => {
  const token = /^#login=([\w.~-]+)$/.exec(location.hash)?.[1] ?? null
  if (token === null) return null
  history.replaceState(null, '', sessionStorage.getItem(PLACE) ?? location.pathname + location.search)
  sessionStorage.removeItem(PLACE)
  return token
}

/** Stored in the tab and never taken from an address, so that no link can redirect a person elsewhere. */
const PLACE = 'patchbay.place'

/**
 * Call it before the tab leaves for the identity provider. A refusal there leads back to the first screen, which nobody chose, so an
 * earlier place is kept.
 */
export const keepPlace = (): void => {
  const place = location.pathname + location.search
  if (place.replace(/\/$/, '') !== PAGE_BASE) sessionStorage.setItem(PLACE, place)
}
