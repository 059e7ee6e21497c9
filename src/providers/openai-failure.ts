/** Failures in either of OpenAI's dialects as typed errors, also those of upstreams that are routers themselves. */
import type { GatewayError } from '../errors.ts'
import { failureError, kindOfStatus } from './classify-failure.ts'
import { kindOfSentence, type FailureKind } from './failure-sentences.ts'
import { kindOfBroadCode, kindOfCode, statusOfKind } from './failure-words.ts'
import type { Target } from './provider.ts'
import { readToldError, type ToldError } from './told-error.ts'

export interface OpenaiFailure {
  /** That of the response; null for an error inside a body or a stream of status 200. */
  readonly status: number | null
  readonly body: unknown
  readonly raw: string
  readonly retryAfterSeconds?: number | undefined
}

export const openaiFailure = ({ status: responded, body, raw, retryAfterSeconds }: OpenaiFailure, target: Target): GatewayError => {
  const told = readToldError(body)
  const status = responded ?? told.status ?? statusOfKind(told.words)
  return failureError({ status, told, raw, retryAfterSeconds }, kindOf(told, status), target)
}

const kindOf = (told: ToldError, status: number | null): FailureKind =>
  told.type ??
  kindOfCode(told.words) ??
  kindOfSentence(told.message, status) ??
  // Under a status of its own, a name for everything says less than the status does.
  (status === null || status === 400 ? kindOfBroadCode(told.words) : null) ??
  (status === 400 && isAboutMessage(told) ? 'invalid_prompt' : null) ??
  (status === null ? unknownKind(told) : kindOfStatus(status))

/** One of the messages is at fault, not the request around them. */
const isAboutMessage = ({ param, message }: ToldError): boolean => ELEMENT.test(param ?? '') || INVALID_ELEMENT.test(message ?? '')

const ELEMENT = /^(?:messages|input)[.[]/
const INVALID_ELEMENT = /^(?:body\.)?(?:messages|input)[.[]\d/

/** A name that nobody knows is a category of its own; without even that it is no valid answer. */
const unknownKind = ({ words }: ToldError): FailureKind => (words.length > 0 ? 'unmapped' : 'provider_unavailable')
