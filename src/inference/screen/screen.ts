/**
 * Applies a caller's guardrails after the preset of a request and before anything is planned, so that they hold for every interface and
 * every attempt, with or without a preset. If no guardrail applies, nothing is inspected.
 */
import type { Call } from '../../canonical/call.ts'
import { plainName } from '../../canonical/conversation-media.ts'
import { createDetections } from '../../guardrails/detections.ts'
import { assertRegion, type Effective } from '../../guardrails/effective.ts'
import type { Moderate } from '../../guardrails/moderate.ts'
import { GatewayError } from '../../errors.ts'
import { isInTokens as isEmbeddedInTokens } from '../../formats/embeddings.ts'
import { createOutputScreen } from '../../guardrails/screen-output.ts'
import { createRunScan } from '../../guardrails/scan.ts'
import { proseOf, screenBody, type ScreenLimits } from '../../guardrails/screen-request.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { atOnce, inTurns, LARGE_BYTES, type Turn } from '../../lib/steps.ts'
import { askedPlugins } from '../../plugins/asked-plugins.ts'
import { asFailure } from '../as-failure.ts'
import { hiddenAfterScreening } from './hidden-after-screening.ts'
import { hideInError } from './hide-in-error.ts'
import { oneChoice } from '../one-choice.ts'
import { readAgain } from '../read-call.ts'
import { type Prepared, refuseLosses, type Screened } from '../request.ts'
import { type HiddenTexts, hiderOf } from '../../canonical/hidden-prompt.ts'
import type { Effect } from '../../canonical/effect.ts'

export interface ScreenParts extends ScreenLimits {
  readonly moderate: Moderate
  /** The endpoint that the plugin `moderation` asks; null if none is configured (the plugin is then refused). */
  readonly moderationEndpoint: string | null
  /** Lets other work run between two steps of the work on a large request. */
  readonly turn: Turn
}

/** Rejects with the refusal of a guardrail, which `effects` records too. */
export const screen = (prepared: Prepared, parts: ScreenParts): Screened | Promise<Screened> => {
  const passed = prepared.guardrails === null ? prepared : screened(prepared, prepared.guardrails, parts)
  return prepared.plugins?.has('moderation') === true ? moderated(passed, parts) : passed
}

/** Applies the plugin `moderation` of the request. The endpoint does not see what guardrails have replaced. */
const moderated = async (
  passed: Screened | Promise<Screened>,
  { moderate, moderationEndpoint, ...limits }: ScreenParts,
): Promise<Screened> => {
  const screened = await passed
  const { call, effects, hidden } = screened
  try {
    const texts = await proseOf(call.body, limits)
    const moderation = { endpoint: moderationEndpoint ?? '', action: 'block', origin: null } as const
    await moderate([moderation], { texts, model: call.models[0] ?? '' }, effects)
    return screened
  } catch (thrown) {
    throw hideInError(asFailure(thrown), hidden)
  } finally {
    hideInEffects(effects, hidden)
  }
}

const screened = async (prepared: Prepared, guardrails: Effective, parts: ScreenParts): Promise<Screened> => {
  const { hidden, effects } = prepared
  try {
    assertRegion(guardrails)
    if (mayRefuse(guardrails) && isInTokens(prepared)) {
      throw new GatewayError('permission_denied', 'The guardrails of this key read the input: send it as text, and not as tokens.', {
        metadata: { patterns: [] },
      })
    }
    const before = prepared.call.body
    const body = await screenedBody(prepared, guardrails, parts)
    const output = prepared.apiType === 'completions' ? guardrails.output : null
    const warnings = output?.rewrites === true ? oneChoice(body, 'Where a guardrail screens the output') : []
    refuseLosses(prepared.strict, warnings)
    const isHiddenChanged = body !== before && hidden !== undefined && guardrails.input !== null
    return {
      ...prepared,
      call: body === before ? prepared.call : await readingAgain(prepared, body, parts),
      plugins: body === before ? prepared.plugins : pluginsAgain(prepared, body),
      hidden: isHiddenChanged
        ? await hiddenAfterScreening(hidden, { before, after: body, input: guardrails.input, limits: parts })
        : hidden,
      warnings: [...prepared.warnings, ...warnings],
      screenOutput:
        output === null
          ? undefined
          : () => ({
              screen: createOutputScreen(output, createDetections(effects, 'Response'), (name) => body.text.includes(JSON.stringify(name))),
              run: createRunScan(parts.clock, parts.screenMs),
            }),
    }
  } catch (thrown) {
    // A moderation endpoint quotes the text that it flags, which may be the preset's.
    throw hideInError(asFailure(thrown), hidden)
  } finally {
    hideInEffects(effects, hidden)
  }
}

/** True if something that these guardrails find in the input may not be sent as it is. */
const mayRefuse = ({ input, moderation }: Effective): boolean =>
  [...(input?.filters ?? []), ...moderation].some(({ action }) => action !== 'flag')

/** SGLang takes the prompt of a conversation in tokens, too, and then ignores its messages. */
const isInTokens = ({ apiType, call: { body } }: Prepared): boolean =>
  apiType === 'embeddings'
    ? isEmbeddedInTokens(body)
    : body.keys.some((key) => plainName(key) === 'inputids' && (body.raw(key) ?? 'null') !== 'null')

const readingAgain = (prepared: Prepared, body: JsonBody, { turn }: ScreenParts): Call | Promise<Call> => {
  const reading = readAgain(prepared, body)
  return body.held.length > LARGE_BYTES ? inTurns(reading, turn) : atOnce(reading)
}

/** The options of the plugins as the changed body has them. A plugin that the model's name implies has none. */
const pluginsAgain = ({ plugins }: Prepared, body: JsonBody): Prepared['plugins'] => {
  if (plugins === null) return null
  const read = askedPlugins(body)
  return new Map([...plugins].map(([id, options]) => [id, read?.get(id) ?? options]))
}

const screenedBody = async (
  { call, effects }: Prepared,
  { input, moderation }: Effective,
  { moderate, ...limits }: ScreenParts,
): Promise<JsonBody> => {
  const body = input === null ? call.body : await screenBody(call.body, input, effects, limits)
  if (moderation.length > 0) {
    const texts = await proseOf(body, limits)
    await moderate(moderation, { texts, model: call.models[0] ?? '' }, effects)
  }
  return body
}

/** Detectors of prompt injection quote the text that they read, so the preset's hidden texts are removed from what they recorded. */
const hideInEffects = (effects: Effect[], hidden: HiddenTexts | undefined): void => {
  if (hidden === undefined) return
  const hide = hiderOf(hidden)
  for (const [at, effect] of effects.entries()) {
    const { patterns } = effect.data
    if (Array.isArray(patterns)) effects[at] = { ...effect, data: { ...effect.data, patterns: patterns.map((each) => hide(String(each))) } }
  }
}
