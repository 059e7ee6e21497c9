/** Turns failures in either of OpenAI's dialects into typed errors, including those of upstreams that are routers themselves. */
import type { GatewayError } from '../../errors.ts'
import { failureError, kindOfStatus } from './classify-failure.ts'
import { kindOfSentence, type FailureKind } from './failure-sentences.ts'
import { kindOfBroadCode, kindOfCode, statusOfKind } from './failure-words.ts'
import type { Target } from '../provider.ts'
import { readReportedError, type ReportedError } from './reported-error.ts'

export interface OpenaiFailure {
  /** The status of the response; null for an error inside a body or a stream of status 200. */
  readonly status: number | null
  readonly body: unknown
  readonly raw: string
  readonly retryAfterSeconds?: number | undefined
}

export const openaiFailure = ({ status: responded, body, raw, retryAfterSeconds }: OpenaiFailure, target: Target): GatewayError => {
  const reported = readReportedError(body)
  const status = responded ?? reported.status ?? statusOfKind(reported.words)
  return failureError({ status, reported, raw, retryAfterSeconds }, kindOf(reported, status), target)
}

const kindOf = (reported: ReportedError, status: number | null): FailureKind =>
  reported.type ??
  kindOfCode(reported.words) ??
  kindOfSentence(reported.message, status) ??
  // If the response has a more specific status, that says more than a broad code.
  (status === null || status === 400 ? kindOfBroadCode(reported.words) : null) ??
  (status === 400 && isAboutMessage(reported) ? 'invalid_prompt' : null) ??
  (status === null ? unknownKind(reported) : kindOfStatus(status))

/** Says whether one of the messages is at fault, rather than the rest of the request. */
const isAboutMessage = ({ param, message }: ReportedError): boolean => ELEMENT.test(param ?? '') || INVALID_ELEMENT.test(message ?? '')

const ELEMENT = /^(?:messages|input)[.[]/
const INVALID_ELEMENT = /^(?:body\.)?(?:messages|input)[.[]\d/

/** An unknown code gets a category of its own; an error without any code is not a valid answer. */
const unknownKind = ({ words }: ReportedError): FailureKind => (words.length > 0 ? 'unmapped' : 'provider_unavailable')
