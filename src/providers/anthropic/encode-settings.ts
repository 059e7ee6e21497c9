/** Encodes temperature, top_p, top_k and the stop sequences, as far as the model takes them. */
import type { SettingName } from '../../canonical/settings.ts'
import type { ModelContext } from './encode-context.ts'

export interface EncodedSampling {
  readonly temperature?: number | undefined
  readonly top_p?: number | undefined
  readonly top_k?: number | undefined
}

/** While a model thinks, the only sampling setting that the dialect allows is a top_p of at least this. */
const TOP_P_WITH_THINKING = 0.95

export const encodeSampling = (context: ModelContext, thinks: boolean): EncodedSampling => {
  const { rules, target } = context
  const given = { temperature: heldTo1(context), topP: context.setting('topP'), topK: context.setting('topK') }
  const drop = (name: SettingName, why: string): undefined => {
    context.lose(context.fieldOf(name), `${target.upstreamModel} ${why}; it was left out.`)
    return undefined
  }
  if (rules.sampling === 'none') {
    // Such a model samples with the defaults, so leaving those out loses nothing.
    if (given.temperature !== undefined && given.temperature !== 1) drop('temperature', 'takes no temperature')
    if (given.topP !== undefined && given.topP !== 1) drop('topP', 'takes no top_p')
    if (given.topK !== undefined) drop('topK', 'takes no top_k')
    return {}
  }
  if (thinks) {
    const temperature =
      given.temperature === undefined || given.temperature === 1 ? undefined : drop('temperature', 'takes no temperature while it thinks')
    const topP =
      given.topP === undefined || given.topP >= TOP_P_WITH_THINKING
        ? given.topP
        : drop('topP', `takes no top_p below ${TOP_P_WITH_THINKING} while it thinks`)
    const topK = given.topK === undefined ? undefined : drop('topK', 'takes no top_k while it thinks')
    return { temperature, top_p: topP, top_k: topK }
  }
  const both = given.temperature !== undefined && given.topP !== undefined
  return {
    temperature: given.temperature,
    top_p: both && rules.sampling === 'one' ? drop('topP', 'takes temperature or top_p, not both') : given.topP,
    top_k: given.topK,
  }
}

/** The other dialects allow up to 2. */
const heldTo1 = (context: ModelContext): number | undefined => {
  const temperature = context.setting('temperature')
  if (temperature === undefined || temperature <= 1) return temperature
  context.mapped(context.fieldOf('temperature'), `${context.target.providerName} knows temperatures up to 1; 1 was sent.`)
  return 1
}

/** The stop sequences without those that have no visible character, which the dialect refuses. */
export const seenStops = (context: ModelContext): readonly string[] | undefined => {
  const stop = context.setting('stop')
  const kept = stop?.filter((sequence) => sequence.trim() !== '')
  if (stop?.some((sequence) => sequence !== '' && sequence.trim() === '') === true)
    context.lose(
      context.fieldOf('stop'),
      `${context.target.providerName} takes no stop sequence that is only white space; it was left out.`,
    )
  return kept === undefined || kept.length === 0 ? undefined : kept
}
