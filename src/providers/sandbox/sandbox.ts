/** The provider that needs no network: it plays the scripts of its models in real time. */
import type { Frame, TakeFrames } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { type Clock, pauseUnlessAborted } from '../../lib/clock.ts'
import type { Steps, Turn } from '../../lib/steps.ts'
import { withoutUnsentFields } from '../../request-fields/service-fields.ts'
import type { Prompt } from '../../canonical/prompt.ts'
import { type Losses, lossesTo } from '../losses/losses.ts'
import type { Attempt, ProviderAdapter, Target } from '../provider.ts'
import type { UpstreamRequest } from '../transport/upstream.ts'
import { encoded } from '../transport/encoded.ts'
import { uncarried } from '../losses/uncarried.ts'
import { sandboxScript } from './script.ts'
import { readSandboxSettings } from './settings.ts'
import type { SandboxStep } from './step.ts'

export const sandboxProvider: ProviderAdapter = async (attempt, context, take) => {
  const { call, target, number, connection, warn } = attempt
  const { clock, sending, turn } = context
  const prompt = call.prompt()
  // These are our own checks, made before the provider counts as asked, so that errors have their real status
  // (docs/contract/errors.md#own-checks).
  refuseFilesById(prompt, { target, ...lossesTo(warn) })
  refuseSeveralChoices(prompt, target)
  const settings = readSandboxSettings(call.body.value('sandbox'))
  await sending?.(await encoded(sandboxWire(attempt), attempt, context))
  const steps = sandboxScript(target.upstreamModel, {
    prompt,
    maxOutputTokens: call.maxOutputTokens,
    settings,
    attempt: number,
  })
  await runScript(steps, clock, connection.signal, take, turn)
}

function* sandboxWire({ call, target }: Attempt): Steps<UpstreamRequest['body']> {
  yield
  return yield* call.body.writingWire({ ...withoutUnsentFields(call.body), model: JSON.stringify(target.upstreamModel) })
}

/** Refused as at every provider: nothing is stored here under such an id. */
const refuseFilesById = ({ messages }: Prompt, context: Losses & { readonly target: Target }): void => {
  for (const { role, parts, at = 'messages' } of messages) {
    for (const part of parts) if (part.type === 'unknown' && part.fileId !== undefined) uncarried(part, { at, role }, context)
  }
}

/** Refused as at every provider that gives only one answer. */
const refuseSeveralChoices = ({ settings: { candidates } }: Prompt, { providerName }: Target): void => {
  if (candidates !== undefined)
    throw new GatewayError('invalid_request', `${candidates.field}: ${providerName} cannot do this. Leave it out, or use another model.`)
}

/** The most frames in one batch; frames without a wait between them are batched. */
const BATCH_MAX = 64

/**
 * `turn`: called after frames that no wait separates. Throws the error of a step, and the signal's reason as soon as the signal aborts,
 * like an adapter with a real upstream.
 */
export const runScript = async (
  steps: Iterable<SandboxStep>,
  clock: Clock,
  signal: AbortSignal,
  take: TakeFrames,
  turn?: Turn,
): Promise<void> => {
  let batch: Frame[] = []
  for (const step of steps) {
    signal.throwIfAborted()
    let waiting: ReturnType<Turn>
    if (step.kind === 'frame') {
      batch.push({ events: step.events })
      // After a wait, other requests have had their turn already.
      if (batch.length > 1) waiting = turn?.()
      if (batch.length < BATCH_MAX && waiting === undefined) continue
    }
    if (batch.length > 0) await take(batch)
    batch = []
    if (waiting !== undefined) await waiting
    if (step.kind === 'wait') await pauseUnlessAborted(clock, step.ms, signal)
    else if (step.kind === 'fail') throw step.error
    else if (step.kind === 'cut') throw new GatewayError('provider_unavailable', 'The provider ended the answer before its end.')
  }
  if (batch.length > 0) await take(batch)
}
