/** Shows the error of an action that no part of the page shows: without a message, a button would seem to do nothing. */
import { ApiError } from '../api/api-error.ts'
import { messageOf } from '../parts/error-note.tsx'
import { toast } from './toasts.tsx'

export const sayUncaught = (): void =>
  window.addEventListener('unhandledrejection', (event) => {
    // A fault of the page itself goes to the console.
    if (!(event.reason instanceof ApiError)) return
    event.preventDefault()
    // For a 401 the sign-in dialog already says that the session is over.
    if (event.reason.status !== 401) toast(`It was not done: ${messageOf(event.reason)}`)
  })
