/** Why the request failed, in a sentence, and what to do about it. */
import type { Generation } from '../../api/generations.ts'
import { PAGE_BASE } from '../../page.ts'
import { wordsOfProvider } from '../../parts/provider-words.ts'
import { warningKey, WarningText } from '../../parts/warning-text.tsx'

export const Cause = ({ record }: { record: Generation }) => {
  const { error_type: type, error, http_status: status, cancelled } = record
  if (cancelled) return <p className="note">The client left before the answer had ended. What was produced by then was charged.</p>
  if (type === null) return record.warnings.length === 0 ? null : <Warnings record={record} />
  const attempts = record.provider_responses ?? []
  const failed = attempts.filter(({ error_type }) => error_type !== null).length
  const last = attempts.at(-1)
  // An answer that was whole may be held back, too, and then the status says that it failed.
  const brokeOff = last?.first_token_ms != null && last.error_type !== null && (status ?? 200) < 400
  return (
    <div className="note bad cause" role="group" aria-label="Cause">
      <p>
        <strong>
          <span aria-hidden="true">▲ </span>
          {type}
          {status === null || status < 400 ? '' : ` (${status})`}
        </strong>{' '}
        {attempts.length === 0
          ? 'No provider was asked.'
          : attempts.length === 1
            ? `${attempts[0]?.provider_name} was asked.`
            : `${attempts.length} attempts were made, ${failed === attempts.length ? 'all' : failed} failed.`}
      </p>
      {brokeOff ? <p>It broke off after the answer had begun, so no other provider could be asked: the client has the beginning.</p> : null}
      {error === null ? null : <Said message={error.message} provider={error.provider_name} />}
      <p>
        <a href={`${PAGE_BASE.replace(/\/dashboard$/, '')}/docs#type-${type}`}>What to do about {type}</a>
      </p>
    </div>
  )
}

/** A broken connection or a refused credential is a message of the service itself, not of the provider. */
const Said = ({ message, provider }: { message: string; provider: string | null }) => {
  const words = wordsOfProvider(message, provider)
  return words === null ? (
    <p>{message}</p>
  ) : (
    <p>
      {provider} said: <q>{words}</q>
    </p>
  )
}

const Warnings = ({ record }: { record: Generation }) => (
  <div className="note warn">
    {record.warnings.map((warning) => (
      <p key={warningKey(warning)}>
        <WarningText of={warning} />
      </p>
    ))}
  </div>
)
