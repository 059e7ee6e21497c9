/** The judge of the messages of one answer, with its findings so far (docs/plugins.md). */
import type { Frame } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Alignment } from '../../plugins/alignment.ts'

export interface Judge {
  readonly alignment: Alignment
  /** As the client sees it, at the top of its answer. */
  readonly report: AlignmentReport
  /** Judges one message, as far as it was said. */
  judge(frames: readonly Frame[]): Promise<JudgedCall>
  /** The message is made anew: what it cost so far stands. */
  again(): void
  /** The failure that stands in place of a message that may not be delivered. */
  refusal(call: JudgedCall): GatewayError
  /** Adds what was judged to the stages of the request, if anything was. */
  addStage(): void
}

export interface AlignmentReport extends JsonObject {
  readonly calls: JudgedCall[]
}

export interface JudgedCall extends JsonObject {
  /** From 1: each message that the model made. */
  readonly call: number
  /** `unjudged`: there was no verdict. */
  readonly outcome: 'allowed' | 'blocked' | 'unjudged'
  readonly rules: JudgedRule[]
}

interface JudgedRule extends JsonObject {
  readonly broken: boolean
  readonly probability: number
}

/** Says whether an error comes from a judge, and not from a provider. */
export const isJudges = ({ metadata }: GatewayError): boolean => metadata['alignment'] !== undefined
