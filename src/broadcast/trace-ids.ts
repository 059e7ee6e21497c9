/** Ids of traces and spans: either named by the client, or derived from a generation, so that a repetition gets the same. */
import { createHash } from 'node:crypto'

/** The ids in a client's `traceparent` (W3C Trace Context). */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/
const ZEROS = /^0+$/

/** Null if the header is missing or malformed: the trace then begins here. */
export const readTraceParent = (header: string | null): TraceParent | null => {
  const [, traceId = '', spanId = '', flags = ''] = TRACE_PARENT.exec(header?.trim() ?? '') ?? []
  if (traceId === '' || ZEROS.test(traceId) || ZEROS.test(spanId)) return null
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export const traceParentText = ({ traceId, spanId, sampled }: TraceParent): string => `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`

/** Text of 32 hex digits stays as it is, and a UUID loses its hyphens; for any other text the beginning of its SHA-256 is used. */
export const traceIdOf = (text: string): { readonly traceId: string; readonly isHashed: boolean } => {
  const plain = (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? text.replaceAll('-', '') : text).toLowerCase()
  const isId = /^[0-9a-f]{32}$/.test(plain) && !ZEROS.test(plain)
  return isId ? { traceId: plain, isHashed: false } : { traceId: hashed(text, 16), isHashed: true }
}

/** Like `traceIdOf`, for the 16 hex digits of a span. */
export const spanIdOf = (text: string): string => {
  const plain = text.toLowerCase()
  return /^[0-9a-f]{16}$/.test(plain) && !ZEROS.test(plain) ? plain : hashed(text, 8)
}

/** `part`: the part of the generation that the span describes, such as `attempt 0`. */
export const derivedSpanId = (generationId: string, part: string): string => hashed(`${generationId} ${part}`, 8)

export const derivedTraceId = (generationId: string): string => hashed(generationId, 16)

const hashed = (text: string, bytes: number): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, bytes * 2)
