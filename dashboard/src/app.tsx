/** Signed out, it shows the sign-in page; signed in, the screens, which stay when the session ends. */
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

import { queryClient } from './api/query-client.ts'
import { sessionState } from './api/session-half.ts'
import { signIn, takeLoginToken } from './api/session.ts'
import { messageOf } from './parts/error-note.tsx'
import { router } from './routes.tsx'
import { SignInDialog, SignInPage } from './shell/sign-in.tsx'
import { Toasts } from './shell/toasts.tsx'
import { useStore } from './store.ts'

const token = takeLoginToken()

export const App = () => {
  const state = useStore(sessionState)
  const link = useLoginLink()
  return (
    <QueryClientProvider client={queryClient}>
      {state === 'none' ? (
        <SignInPage opening={link.opening} fault={link.fault} />
      ) : (
        <>
          <RouterProvider router={router} />
          {state === 'ended' ? <SignInDialog /> : null}
        </>
      )}
      <Toasts />
    </QueryClientProvider>
  )
}

/** A link is used up by its first request, so the request is made only once. */
const opened = token === null ? null : signIn({ token })

const useLoginLink = (): { opening: boolean; fault: string | null } => {
  const [opening, setOpening] = useState(opened !== null)
  const [fault, setFault] = useState<string | null>(null)
  useEffect(() => {
    opened?.catch((thrown: unknown) => setFault(messageOf(thrown))).finally(() => setOpening(false))
  }, [])
  return { opening, fault }
}
