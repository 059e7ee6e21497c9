/** Shows a failure where it happened: its message, the advice, and the id to look it up by. */
import { ApiError } from '../api/api-error.ts'
import { Button } from './button.tsx'

/** If the error names faults of a body, they are the message: its own sentence only says that the body is invalid. */
export const messageOf = (thrown: unknown): string => {
  if (thrown instanceof ApiError && thrown.issues.length > 0)
    return thrown.issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('\n')
  if (thrown instanceof ApiError && thrown.reason !== null) return thrown.reason
  return thrown instanceof Error ? thrown.message : 'Something went wrong.'
}

/** The object is gone or belongs to others, or the service is older than the page. */
const isMissing = (thrown: unknown): boolean => thrown instanceof ApiError && (thrown.status === 404 || thrown.status === 405)

/** A retry would be refused in the same way: the request is malformed, or not allowed for this person. */
const isRefused = (thrown: unknown): boolean => thrown instanceof ApiError && REFUSALS.has(thrown.status)

const REFUSALS: ReadonlySet<number> = new Set([400, 403, 413, 422])

export const ErrorNote = ({ error, again }: { error: unknown; again?: () => void }) => {
  if (isMissing(error))
    return <p className="note">There is nothing to show: it was deleted, is not yours to see, or this service does not offer it.</p>
  const requestId = error instanceof ApiError ? error.requestId : null
  return (
    <div className="note bad" role="alert">
      <p className="said">
        <span aria-hidden="true">▲ </span>
        {messageOf(error)}
      </p>
      <p className="row">
        {again === undefined || isRefused(error) ? null : <Button onClick={again}>Try again</Button>}
        {requestId === null ? null : <code className="faint">{requestId}</code>}
      </p>
    </div>
  )
}
