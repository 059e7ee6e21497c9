/** The caller, and the names under which a request is recorded; none of this is kept in a preset (docs/contract/requests.md#bounds). */
import { z } from 'zod'

import { optionalFlag, optionalText, textUpTo } from './scalars.ts'

const METADATA_PAIRS_MAX = 16

export const sessionId = textUpTo(256).meta({ description: 'Keeps a conversation on one provider. Wins over the header x-session-id.' })
export const endUser = textUpTo(256).meta({ description: 'An identifier of your end user.' })

/** The public schema has no limit for this field; ours has one (docs/contract/requests.md#bounds). */
export const safetyIdentifier = textUpTo(256).meta({ description: 'Isolates abuse to one of your end users.' })

const metadataKey = z
  .string()
  .max(64, 'A key has at most 64 characters.')
  .regex(/^[^[\]]*$/, 'A key has no brackets.')

export const metadata = z
  .record(metadataKey, textUpTo(512))
  .refine((pairs) => Object.keys(pairs).length <= METADATA_PAIRS_MAX, `At most ${METADATA_PAIRS_MAX} pairs.`)
  .meta({ id: 'RequestMetadata', maxProperties: METADATA_PAIRS_MAX })

/** `metadata` of the Messages interface has a different meaning; Anthropic accepts 512 characters (docs/contract/requests.md#bounds). */
export const messagesMetadata = z.looseObject({ user_id: textUpTo(512).nullish() })

const TRACE_KEYS_MAX = 64
const TRACE_BYTES_MAX = 16 * 1024

export const trace = z
  .looseObject({
    trace_id: optionalText,
    trace_name: optionalText,
    span_name: optionalText,
    generation_name: optionalText,
    parent_span_id: optionalText,
  })
  .refine((trace) => Object.keys(trace).length <= TRACE_KEYS_MAX, `At most ${TRACE_KEYS_MAX} keys.`)
  .refine((trace) => Buffer.byteLength(JSON.stringify(trace)) <= TRACE_BYTES_MAX, 'At most 16 KiB as JSON.')
  .meta({ id: 'Trace', maxProperties: TRACE_KEYS_MAX, description: 'Other keys go on to the broadcast destinations as they are.' })

export const debug = z.looseObject({ echo_upstream_body: optionalFlag }).meta({ id: 'DebugOptions', description: 'Streaming only.' })
