/** Failures in either of OpenAI's dialects as typed errors, also those of upstreams that are routers themselves. */
import type { GatewayError } from '../errors.ts'
import { failureError, kindOfStatus } from './classify-failure.ts'
import { kindOfSentence, type FailureKind } from './failure-sentences.ts'
import { kindOfBroadCode, kindOfCode, statusOfKind } from './failure-words.ts'
import type { Target } from './provider.ts'
import { readReportedError, type ReportedError } from './reported-error.ts'

export interface OpenaiFailure {
  /** That of the response; null for an error inside a body or a stream of status 200. */
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
  // Under a status of its own, a name for everything says less than the status does.
  (status === null || status === 400 ? kindOfBroadCode(reported.words) : null) ??
  (status === 400 && isAboutMessage(reported) ? 'invalid_prompt' : null) ??
  (status === null ? unknownKind(reported) : kindOfStatus(status))

/** One of the messages is at fault, not the request around them. */
const isAboutMessage = ({ param, message }: ReportedError): boolean => ELEMENT.test(param ?? '') || INVALID_ELEMENT.test(message ?? '')

const ELEMENT = /^(?:messages|input)[.[]/
const INVALID_ELEMENT = /^(?:body\.)?(?:messages|input)[.[]\d/

/** An unknown name is a category of its own; without even that it is no valid answer. */
const unknownKind = ({ words }: ReportedError): FailureKind => (words.length > 0 ? 'unmapped' : 'provider_unavailable')
