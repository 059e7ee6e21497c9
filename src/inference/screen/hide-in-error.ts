/** Removes the texts that a preset hides from a failure, since an error message may quote the request. */
import { type HiddenTexts, hiderOf } from '../../canonical/hidden-prompt.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json/json.ts'

export const hideInError = (error: GatewayError, hidden: HiddenTexts | undefined): GatewayError =>
  hidden === undefined ? error : hideWithin(error, hiderOf(hidden))

/** The failure with `hide` applied to each of its texts. */
export const hideWithin = (error: GatewayError, hide: (text: string) => string): GatewayError => {
  const { status, retryAfterSeconds, unread, cause } = error
  return new GatewayError(error.type, hide(error.message), {
    status,
    retryAfterSeconds,
    unread,
    metadata: hiddenWithin(error.metadata, hide) as GatewayError['metadata'],
    ...(cause === undefined ? {} : { cause: hiddenCause(cause, hide) }),
  })
}

const hiddenWithin = (value: unknown, hide: (text: string) => string): unknown => {
  if (typeof value === 'string') return hide(value)
  if (Array.isArray(value)) return value.map((item) => hiddenWithin(item, hide))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hiddenWithin(item, hide)])) : value
}

/** The cause goes to the log, and parsers quote the text that they could not read. */
const hiddenCause = (cause: unknown, hide: (text: string) => string): unknown => {
  if (!(cause instanceof Error)) return typeof cause === 'string' ? hide(cause) : cause
  const message = hide(cause.message)
  const inner = cause.cause === undefined ? undefined : hiddenCause(cause.cause, hide)
  if (message === cause.message && inner === cause.cause) return cause
  const reported = new Error(message, inner === undefined ? {} : { cause: inner })
  reported.name = cause.name
  return reported
}
