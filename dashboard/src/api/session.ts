/** Who is signed in. */
import { queryOptions } from '@tanstack/react-query'

import { ask } from './client.ts'
import { forgetSession, holdSession } from './session-half.ts'

export interface Session {
  readonly id: string
  readonly user_id: string
  readonly name?: string | null
  readonly role: 'admin' | 'member'
  readonly workspace_id: string
  readonly expires_at: string
}

/** `proof`: the token of a link, or a management key; neither is kept. Throws ApiError with 401 where it is none. */
export const signIn = async (proof: { token: string } | { key: string }): Promise<void> => {
  const answer = await ask<{ csrf?: string; data?: { csrf: string } }>('/sessions', { method: 'POST', body: proof })
  holdSession(answer.csrf ?? answer.data?.csrf ?? '')
}

export const signOut = async (): Promise<void> => {
  await ask('/sessions/current', { method: 'DELETE' })
  forgetSession()
}

export const currentSession = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => {
    const answer = await ask<{ data?: Session } & Session>('/sessions/current', { signal })
    return answer.data ?? answer
  },
  staleTime: 60_000,
})

/** Takes the token of a link out of the address, so that neither the history nor a screenshot holds it. */
export const takeLoginToken = (): string | null => {
  const token = /^#login=([\w.~-]+)$/.exec(location.hash)?.[1] ?? null
  if (token !== null) history.replaceState(null, '', location.pathname + location.search)
  return token
}
