/**
 * The sign-in link with which the page was opened. Anybody can make somebody else open a link of their own, so where a person is signed in
 * already, it is used only if that person says so: what they enter next would go to a workspace of the link's maker (decisions/0228).
 */
import type { CurrentSessionResource } from '../../../src/contract/session.ts'
import { ApiError } from '../api/api-error.ts'
import { askData } from '../api/client.ts'
import { sessionHalf } from '../api/session-half.ts'
import { signIn, takeLoginToken } from '../api/session.ts'
import { messageOf } from '../parts/error-note.tsx'
import { createStore } from '../store.ts'
import { toast } from './toasts.tsx'

export type LoginLink =
  | { readonly at: 'none' }
  | { readonly at: 'opening' }
  /** `signedIn`: the name of the person whose session the link would end. */
  | { readonly at: 'asked'; readonly signedIn: string; readonly accept: () => Promise<void> }
  | { readonly at: 'refused'; readonly why: string }

export const loginLink = createStore<LoginLink>({ at: 'none' })

export const dismissLink = (): void => loginLink.set({ at: 'none' })

/** Call it once, before the page is shown. */
export const openLoginLink = async (): Promise<void> => {
  const token = takeLoginToken()
  if (token === null) return
  const accept = async (): Promise<void> => {
    loginLink.set({ at: 'opening' })
    await signIn({ token }).then(dismissLink, refuse)
  }
  loginLink.set({ at: 'opening' })
  try {
    const signedIn = sessionHalf() === null ? null : await personSignedIn()
    if (signedIn === null) await accept()
    else loginLink.set({ at: 'asked', signedIn, accept })
  } catch (thrown) {
    refuse(thrown)
  }
}

const refuse = (thrown: unknown): void => {
  const why = messageOf(thrown)
  // The sign-in page shows the reason. A person who is still signed in sees no such page.
  if (sessionHalf() !== null) toast(`The link was not used: ${why}`)
  loginLink.set({ at: 'refused', why })
}

/** Null if the session that this browser holds is over. Throws ApiError. */
const personSignedIn = async (): Promise<string | null> => {
  try {
    const data = await askData<CurrentSessionResource>('/sessions/current')
    return data.user_name ?? data.user_id
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status === 401) return null
    throw thrown
  }
}
