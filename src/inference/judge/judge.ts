/** Judges the messages of one answer, and keeps its findings so far (docs/plugins.md). */
import type { Frame } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Alignment } from '../../plugins/alignment.ts'

export interface Judge {
  readonly alignment: Alignment
  /** The report that the client sees at the top of its answer. */
  readonly report: AlignmentReport
  /** Judges one message, as far as it has come. */
  judge(frames: readonly Frame[]): Promise<JudgedCall>
  /** Prepares for making the message again; the cost so far still counts. */
  again(): void
  /** The error that replaces a message that may not be delivered. */
  refusal(call: JudgedCall): GatewayError
  /** Adds the judgements, if there are any, to the effects on the request. */
  addEffect(): void
}

export interface AlignmentReport extends JsonObject {
  readonly calls: JudgedCall[]
}

export interface JudgedCall extends JsonObject {
  /** Counts the model's messages from 1. */
  readonly call: number
  /** `unjudged`: there was no verdict. */
  readonly outcome: 'allowed' | 'blocked' | 'unjudged'
  readonly rules: JudgedRule[]
}

interface JudgedRule extends JsonObject {
  readonly broken: boolean
  readonly probability: number
}

/** True if an error comes from a judge and not from a provider. */
export const isJudges = ({ metadata }: GatewayError): boolean => metadata['alignment'] !== undefined
