/** Says the failure of what somebody pressed where no part of the page shows it: without a word, a key that stays active would pass for disabled. */
import { ApiError } from '../api/api-error.ts'
import { messageOf } from '../parts/error-note.tsx'
import { toast } from './toasts.tsx'

export const sayUncaught = (): void =>
  window.addEventListener('unhandledrejection', (event) => {
    // A fault of the page itself is for the console.
    if (!(event.reason instanceof ApiError)) return
    event.preventDefault()
    // The sign-in dialog says that the session is over.
    if (event.reason.status !== 401) toast(`It was not done: ${messageOf(event.reason)}`)
  })
