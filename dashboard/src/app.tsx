/** Signed out, it shows the sign-in page; signed in, the screens, which stay when the session ends. */
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect } from 'react'

import { queryClient } from './api/query-client.ts'
import { sessionState } from './api/session-half.ts'
import { router } from './routes.tsx'
import { loginLink, openLoginLink } from './shell/login-link.ts'
import { LinkQuestion, SignInDialog, SignInPage } from './shell/sign-in.tsx'
import { Toasts } from './shell/toasts.tsx'
import { useStore } from './store.ts'

void openLoginLink()

export const App = () => (
  <QueryClientProvider client={queryClient}>
    <Page />
    <Toasts />
  </QueryClientProvider>
)

const Page = () => {
  const state = useStore(sessionState)
  const link = useStore(loginLink)
  useEffect(() => {
    // The router followed no address while the sign-in page was in its place.
    if (state === 'held' && router.history.location.href !== router.state.location.href) void router.load()
  }, [state])
  if (link.at === 'asked') return <LinkQuestion signedIn={link.signedIn} onAccept={link.accept} />
  if (link.at === 'opening' || state === 'none') {
    return <SignInPage opening={link.at === 'opening'} fault={link.at === 'refused' ? link.why : null} />
  }
  return (
    <>
      <RouterProvider router={router} />
      {state === 'ended' ? <SignInDialog /> : null}
    </>
  )
}
