/** A failure where it happened: what, what to do, and the id to look it up by. */
import { ApiError } from '../api/api-error.ts'
import { Button } from './button.tsx'

export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : 'Something went wrong.')

/** Where the service is older than the page, or this part of it is switched off. */
const isMissingRoute = (thrown: unknown): boolean =>
  thrown instanceof ApiError && (thrown.status === 405 || (thrown.status === 404 && thrown.message.startsWith('There is no /')))

export const ErrorNote = ({ error, again }: { error: unknown; again?: () => void }) => {
  if (isMissingRoute(error)) return <p className="note">This service does not answer that question yet: it may be older than this page.</p>
  const requestId = error instanceof ApiError ? error.requestId : null
  return (
    <div className="note bad" role="alert">
      <p>
        <span aria-hidden="true">▲ </span>
        {messageOf(error)}
      </p>
      <p className="row">
        {again === undefined ? null : <Button onClick={again}>Try again</Button>}
        {requestId === null ? null : <code className="faint">{requestId}</code>}
      </p>
    </div>
  )
}
