/**
 * A caller's guardrails over a request, after its preset was applied and before anything is planned: so they hold for every
 * interface, every attempt, with or without a preset. Where no guardrail applies, nothing is looked at.
 */
import type { Call } from '../canonical/call.ts'
import type { HiddenPrompt } from '../canonical/hidden-prompt.ts'
import type { PipelineStage } from '../canonical/pipeline.ts'
import type { Warning } from '../canonical/warning.ts'
import { GatewayError } from '../errors.ts'
import { createDetections } from '../guardrails/detections.ts'
import type { Effective } from '../guardrails/effective.ts'
import type { Guardrails } from '../guardrails/guardrails.ts'
import type { Moderate } from '../guardrails/moderate.ts'
import { createOutputScreen } from '../guardrails/screen-output.ts'
import { proseOf, screenBody } from '../guardrails/screen-request.ts'
import type { RefusedRequest } from '../inference/routing-metadata.ts'
import { planFor, type InferenceParts } from '../inference/run-inference.ts'
import { hideInError } from '../inference/hide-in-error.ts'
import { hideInPipeline } from '../inference/hide-in-pipeline.ts'
import { strictError, type InferenceRequest } from '../inference/inference-request.ts'
import { type Principal, callerOf } from '../keys/keys.ts'
import type { JsonBody } from '../lib/json-body.ts'
import type { Plan } from '../routing/plan-attempts.ts'
import { hiddenAfterScreening } from './hidden-after-screening.ts'
import type { PrepareCall } from './prepare-call.ts'

/** `models` and `routing` tell who would have been asked, for the metadata of a refusal. */
export interface ScreenParts extends Pick<InferenceParts, 'models' | 'routing' | 'clock'> {
  readonly guardrails: Guardrails
  readonly moderate: Moderate
  readonly screenMs: number
}

export interface Screened extends Pick<InferenceRequest, 'call' | 'hidden' | 'policy' | 'pipeline' | 'screenOutput'> {
  readonly warnings: readonly Warning[]
}

/** `reparse` reads a body whose texts were replaced. Throws as `screenBody` and `moderate` do. */
export type ScreenCall = (call: Call, principal: Principal, reparse: (body: JsonBody) => Call, hidden?: HiddenPrompt) => Promise<Screened>

export const createScreenCall =
  (parts: ScreenParts): ScreenCall =>
  async (call, principal, reparse, hidden) => {
    const known = parts.guardrails.effective(principal)
    const effective = known instanceof Promise ? await known : known
    if (effective === null) return { call, warnings: NO_WARNINGS }
    const pipeline: PipelineStage[] = []
    try {
      const passed = await screened(call, effective, pipeline, reparse, parts)
      const changed = passed.call !== call && hidden !== undefined && effective.input !== null
      return changed
        ? {
            ...passed,
            hidden: await hiddenAfterScreening(hidden, {
              before: call.body,
              after: passed.call.body,
              input: effective.input,
              limits: parts,
            }),
          }
        : passed
    } catch (thrown) {
      const caller = callerOf(principal)
      if (thrown instanceof GatewayError) {
        // A moderation endpoint quotes what it flags, which may be the preset's.
        const error = hideInError(thrown, hidden)
        const plan = planOf(() => planFor({ call, caller, policy: effective.policy }, parts))
        refusals.set(error, { call, pipeline, plan, requested: call.models[0] ?? '', preset: null })
        throw error
      }
      throw thrown
    } finally {
      hideInPipeline(pipeline, hidden)
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
    const texts = await proseOf(body, limits)
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
    const { requested, preset, hidden } = prepared
    const screened = await screenCall(prepared.call, principal, (changed) => format.parseCall(changed).call, hidden).catch(
      (thrown: unknown) => {
        const refused = refusedBy(thrown)
        if (thrown instanceof GatewayError && refused !== undefined) refusals.set(thrown, { ...refused, requested, preset })
        throw thrown
      },
    )
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

/** What is known of a request that was refused, for the metadata beside its error. Not in the error: errors are logged. */
const refusals = new WeakMap<GatewayError, RefusedRequest>()

export const refusedBy = (thrown: unknown): RefusedRequest | undefined =>
  thrown instanceof GatewayError ? refusals.get(thrown) : undefined
