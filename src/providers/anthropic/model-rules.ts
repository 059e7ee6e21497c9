/**
 * The rules of a model for a Messages request. There is one dialect, but each generation of Claude refuses with a 400 what the one before
 * it took. Sources: Anthropic's migration guides, its pages on thinking, effort, structured outputs and mid-conversation system messages,
 * and the refusals themselves.
 */
import type { Target } from '../provider.ts'

export interface ModelRules {
  readonly claude: boolean
  /** Which of temperature, top_p and top_k it takes: `all`; temperature or top_p but not both (`one`); or only the defaults (`none`). */
  readonly sampling: 'all' | 'one' | 'none'
  /** How thinking is asked for: not at all, with a budget of tokens, in either way, or only as `adaptive` with an effort. */
  readonly thinking: 'none' | 'budget' | 'either' | 'adaptive'
  /** How to keep the model from thinking. `silence`: it does not think unless it is asked to. */
  readonly thinkingOff: 'silence' | 'disabled' | 'between_tools' | 'never'
  /** The highest effort that it takes where it is kept from thinking; null: any. */
  readonly unthoughtEffort: 'high' | null
  /** The effect of `display`, which says whether thinking is readable. `hidden`: it is not readable unless asked for. */
  readonly display: 'unknown' | 'shown' | 'hidden'
  /** The values of `output_config.effort`, lowest first. */
  readonly efforts: readonly string[]
  /** Says whether a call of a tool can be demanded. `without-budget`: beside thinking only if that is `adaptive`. */
  readonly forcedTools: 'always' | 'without-budget' | 'without-thinking' | 'never'
  /** A message with the role `system` may come between the turns. */
  readonly systemTurns: boolean
  /** A system message between the turns may change the effort. Source: platform.claude.com, "Per-message effort". */
  readonly effortChanges: boolean
  /** It continues the beginning of an answer, if that is the last message. */
  readonly prefill: boolean
  /** Takes `output_config.format`, and `strict` tools. */
  readonly structuredOutputs: boolean
}

/**
 * Chosen by the provider's own name of the model. A model that is not a Claude is taken for an imitation of the dialect's first version.
 */
export const rulesOf = (upstreamModel: string): ModelRules => {
  const model = claudeNamed(upstreamModel.toLowerCase())
  if (model === null) return IMITATION
  const { family, version } = model
  return {
    claude: true,
    sampling: version >= 407 ? 'none' : version >= 401 ? 'one' : 'all',
    thinking: version >= 407 ? 'adaptive' : version >= 406 ? 'either' : version >= 307 ? 'budget' : 'none',
    thinkingOff: thinkingOff(family, version),
    unthoughtEffort: version >= (family === 'opus' ? 500 : 505) ? 'high' : null,
    display: version >= 407 ? 'hidden' : version >= 400 ? 'shown' : 'unknown',
    efforts: efforts(family, version),
    forcedTools: forcedTools(family, version),
    systemTurns: version >= (family === 'sonnet' || family === 'haiku' ? 505 : 408),
    effortChanges: version >= effortChangesFrom(family),
    prefill: version < 406,
    structuredOutputs: version >= 401,
  }
}

/**
 * The rules at a provider. Anthropic takes a demanded call beside adaptive thinking from every model that has it (its page "Thinking",
 * "Thinking with tool use"); Bedrock, from Opus 4.8 on.
 */
export const rulesAt = ({ provider, upstreamModel }: Pick<Target, 'provider' | 'upstreamModel'>): ModelRules => {
  const rules = rulesOf(upstreamModel)
  const adapts = rules.thinking === 'either' || rules.thinking === 'adaptive'
  return provider === 'anthropic' && adapts && rules.forcedTools === 'without-thinking'
    ? { ...rules, forcedTools: 'without-budget' }
    : rules
}

/**
 * Says whether a model other than Claude speaks the dialect here: its server signs no thinking, and takes thinking back as text
 * (decisions/0132). Models at Anthropic itself are never imitations, nor is any model with Claude in its name.
 */
export const isImitation = ({ provider, upstreamModel }: Pick<Target, 'provider' | 'upstreamModel'>): boolean =>
  provider !== 'anthropic' && !/claude/i.test(upstreamModel)

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const

const efforts = (family: string, version: number): readonly string[] => {
  if (version < 406) return family === 'opus' && version === 405 ? ['low', 'medium', 'high'] : []
  return version < 407 || family === 'preview' ? ['low', 'medium', 'high', 'max'] : EFFORTS
}

const IMITATION: ModelRules = {
  claude: false,
  sampling: 'all',
  thinking: 'budget',
  thinkingOff: 'silence',
  unthoughtEffort: null,
  display: 'unknown',
  efforts: [],
  forcedTools: 'without-thinking',
  systemTurns: false,
  effortChanges: false,
  prefill: true,
  structuredOutputs: false,
}

const effortChangesFrom = (family: string): number => (family === 'opus' ? 500 : alwaysThinks(family) ? 501 : 505)

const alwaysThinks = (family: string): boolean => ['fable', 'mythos', 'preview'].includes(family)

const thinkingOff = (family: string, version: number): ModelRules['thinkingOff'] => {
  if (alwaysThinks(family)) return 'never'
  if (version < 500) return 'silence'
  if (family === 'opus' && version >= 505) return 'never'
  return family === 'sonnet' && version >= 505 ? 'between_tools' : 'disabled'
}

const forcedTools = (family: string, version: number): ModelRules['forcedTools'] => {
  if (version < 408 && !alwaysThinks(family)) return 'without-thinking'
  const refusedFrom = family === 'haiku' ? Number.POSITIVE_INFINITY : alwaysThinks(family) ? 501 : 505
  return version >= refusedFrom ? 'never' : 'always'
}

/** `claude-opus-4-5-20251101` is opus 405, `claude-3-7-sonnet-…` sonnet 307, with any words of a vendor before and after. */
const claudeNamed = (name: string): { family: string; version: number } | null => {
  // The only model whose name has no number; it was released with opus 4.7.
  if (name.includes('claude-mythos-preview')) return { family: 'preview', version: 407 }
  const { family, major, minor } = NEW_NAME.exec(name)?.groups ?? OLD_NAME.exec(name)?.groups ?? {}
  return family === undefined || major === undefined ? null : { family, version: Number(major) * 100 + Number(minor ?? 0) }
}

const NEW_NAME = /claude-(?<family>[a-z]+)-(?<major>\d{1,2})(?!\d)(?:[-.](?<minor>\d{1,2})(?!\d))?/
const OLD_NAME = /claude-(?<major>\d)(?:[-.](?<minor>\d))?-(?<family>[a-z]+)/
