/** Failures that a client sees with the routing metadata that it asked for (docs/contract/debugging.md#routing-metadata). */
import { NO_COST } from '../../canonical/cost.ts'
import { NO_USAGE } from '../../canonical/usage.ts'
import type { GatewayError } from '../../errors.ts'
import type { AnswerTail, ClientFormat } from '../../formats/format.ts'
import type { Admitted } from '../../inference/admitted.ts'
import { answerTail } from '../../inference/answer-head.ts'
import type { Refused } from '../../inference/refused.ts'
import { refusalMetadata } from '../../inference/routing-metadata.ts'
import { errorHeaders } from '../error-boundary.ts'
import { jsonText } from '../response/json-response.ts'
import { metadataField } from './opt-ins.ts'

/** A client that asked for routing metadata always gets the real status. Throws the error if the client did not ask. */
export const refusal = ({ error, facts }: Refused, format: Pick<ClientFormat, 'renderError'>, headers: Headers): Response => {
  const field = facts === null || METADATA_LESS.has(error.status) ? null : metadataField(headers)
  if (facts === null || field === null) throw error
  const metadata = { field, value: refusalMetadata(facts, error) }
  const { body } = format.renderError(error, null, { usage: NO_USAGE, cost: NO_COST, endedSeconds: 0, metadata })
  return jsonText(body, { status: error.status, headers: errorHeaders(error) })
}

/** The end of an answer that failed: checks of ours that it failed before a provider was asked have no metadata. */
export const failureTail = (admitted: Admitted, error: GatewayError, field: ReturnType<typeof metadataField>): AnswerTail =>
  answerTail(admitted, !admitted.log.asked && METADATA_LESS.has(error.status) ? null : field)

/** Failures of validation, keys and our limits have no routing metadata, nor has a 500. */
const METADATA_LESS: ReadonlySet<number> = new Set([400, 401, 413, 415, 429, 500])
