/**
 * A caller's guardrails over a request, after its preset was applied and before anything is planned: so they hold for every
 * interface, every attempt, with or without a preset. Where no guardrail applies, nothing is looked at.
 */
import type { Call } from '../canonical/call.ts'
import type { PipelineStage } from '../canonical/pipeline.ts'
import type { Warning } from '../canonical/warning.ts'
import { GatewayError } from '../errors.ts'
import { createDetections } from '../guardrails/detections.ts'
import type { Effective } from '../guardrails/effective.ts'
import type { Guardrails } from '../guardrails/guardrails.ts'
import { inputTexts } from '../guardrails/input-texts.ts'
import type { Moderate } from '../guardrails/moderate.ts'
import { createOutputScreen } from '../guardrails/screen-output.ts'
import { screenBody } from '../guardrails/screen-request.ts'
import { planAttempts, type Plan } from '../inference/plan-attempts.ts'
import { strictError, type InferenceRequest } from '../inference/run.ts'
import type { Principal } from '../keys/keys.ts'
import type { Clock } from '../lib/clock.ts'
import type { JsonBody } from '../lib/json-body.ts'
import type { Models } from '../models/models.ts'
import type { PrepareCall } from './prepare-call.ts'

export interface ScreenParts {
  readonly guardrails: Guardrails
  readonly moderate: Moderate
  /** Who would have been asked, for the metadata of a refusal. */
  readonly models: Models
  readonly clock: Clock
  readonly screenMs: number
}

export interface Screened extends Pick<InferenceRequest, 'call' | 'policy' | 'pipeline' | 'screenOutput'> {
  readonly warnings: readonly Warning[]
}

/** `reparse` reads a body whose texts were replaced. Throws as `screenBody` and `moderate` do. */
export type ScreenCall = (call: Call, principal: Principal, reparse: (body: JsonBody) => Call) => Promise<Screened>

export const createScreenCall =
  (parts: ScreenParts): ScreenCall =>
  async (call, principal, reparse) => {
    const known = parts.guardrails.effective(principal)
    const effective = known instanceof Promise ? await known : known
    if (effective === null) return { call, warnings: NO_WARNINGS }
    const pipeline: PipelineStage[] = []
    try {
      return await screened(call, effective, pipeline, reparse, parts)
    } catch (thrown) {
      if (thrown instanceof GatewayError)
        refusals.set(thrown, { call, plan: planOf(() => planAttempts(call, parts.models, effective.policy)), pipeline })
      throw thrown
    }
  }

const screened = async (
  call: Call,
  { input, output, policy, moderation, dataRegions }: Effective,
  pipeline: PipelineStage[],
  reparse: (body: JsonBody) => Call,
  { moderate, ...limits }: ScreenParts,
): Promise<Screened> => {
  if (dataRegions?.includes(OUR_REGION) === false) {
    throw new GatewayError(
      'permission_denied',
      `The guardrails of this key admit requests through ${dataRegions.join(', ') || 'no region'} only; this is ${OUR_REGION}.`,
    )
  }
  const body = input === null ? call.body : await screenBody(call.body, input, pipeline, limits)
  if (moderation.length > 0) {
    const texts = inputTexts(body).texts.map(({ value }) => value)
    await moderate(moderation, { texts, model: call.models[0] ?? '' }, pipeline)
  }
  return {
    call: body === call.body ? call : { ...reparse(body), passHeaders: call.passHeaders },
    policy,
    pipeline,
    warnings: output?.rewrites === true ? oneChoice(body) : NO_WARNINGS,
    ...(output === null ? {} : { screenOutput: () => createOutputScreen(output, createDetections(pipeline, 'Response'), output.rewrites) }),
  }
}

/** Of `allowed_data_regions`: a service of one's own is in none of the others. */
const OUR_REGION = 'global'

export const screenPrepared =
  (prepareCall: PrepareCall, screenCall: ScreenCall): PrepareCall =>
  async (body, format, headers, principal) => {
    const prepared = await prepareCall(body, format, headers, principal)
    const screened = await screenCall(prepared.call, principal, (changed) => format.parseCall(changed).call)
    const [first] = screened.warnings
    if (prepared.strict && first !== undefined) throw strictError(first)
    return { ...prepared, ...screened, warnings: [...prepared.warnings, ...screened.warnings] }
  }

/** A request may be refused for two reasons at once: the guardrail's is told. */
const planOf = (plan: () => Plan): Plan | null => {
  try {
    return plan()
  } catch {
    return null
  }
}

const NO_WARNINGS: readonly Warning[] = []

/** An answer is screened in the language of the middle, which knows one choice. */
const oneChoice = (body: JsonBody): readonly Warning[] => {
  const count = body.value('n')
  return typeof count !== 'number' || count <= 1
    ? NO_WARNINGS
    : [{ code: 'unsupported_field', field: 'n', message: 'Where a guardrail screens the output, only the first choice is answered.' }]
}

/** What is known of a request that was refused: for the metadata beside its error. */
export interface Refused {
  readonly call: Call
  /** Null where nobody could be asked anyway. */
  readonly plan: Plan | null
  readonly pipeline: readonly PipelineStage[]
}

/** Beside the error, not in it: errors are logged. */
const refusals = new WeakMap<GatewayError, Refused>()

export const refusedBy = (thrown: unknown): Refused | undefined => (thrown instanceof GatewayError ? refusals.get(thrown) : undefined)
