/**
 * The abilities of an OpenAI model, read from its name. The API refuses whole requests for an effort, an `include` or a setting that the
 * model does not know, so the request has to fit the model. A name that says nothing, such as one of a local server, is taken as a model
 * that accepts everything. Sources: the API's guides to reasoning and to the latest models ("Parameter compatibility"), the values that its
 * refusals list, the tables of the @ai-sdk/openai package.
 */
import type { Target } from '../provider.ts'

export interface OpenAiModel {
  /** Says whether the model thinks; null: unknown. */
  readonly reasons: boolean | null
  /** The efforts it accepts, the least first; null: unknown. */
  readonly efforts: readonly string[] | null
  /** Its thinking is never readable in full: a reasoning item with `content` is refused. */
  readonly hidesThinking: boolean
  /**
   * When Chat Completions refuses tools for it: if an effort other than `none` is asked for, or always unless the effort is `none`.
   * "Function tools with reasoning_effort are not supported … in /v1/chat/completions."
   */
  readonly chatToolsRefused: 'never' | 'with-effort' | 'unless-none'
  /** Content may carry `prompt_cache_breakpoint`. */
  readonly cacheBreakpoints: boolean
  /** The model expects a mark on each assistant message of its history: commentary or final answer. */
  readonly phases: boolean
  /** The types of built-in tools that Responses refuses for it. */
  readonly refusedTools: RegExp
  /** Fields that it accepts in addition to those that every OpenAI model accepts. */
  readonly accepts: ReadonlySet<string>
  /** Fields that it accepts only if its effort is `none`. */
  readonly acceptsUnthinking: ReadonlySet<string>
}

/** `name` is the provider's own name, perhaps after a vendor (`openai/gpt-5.4`) or a mark of fine-tuning (`ft:gpt-4.1:…`). */
export const openAiModel = (name: string): OpenAiModel => {
  const bare = name.slice(name.lastIndexOf('/') + 1).replace(/^ft:/, '')
  const version = /^gpt-(\d+)(?:\.(\d+))?/.exec(bare)
  if (version !== null) return gptModel(bare, Number(version[1]), Number(version[2] ?? 0))
  if (/^(?:o\d|codex-)/.test(bare)) return { ...THINKING, efforts: USUAL }
  if (bare.startsWith('computer-use')) return { ...THINKING, efforts: USUAL, refusedTools: NO_TOOLS }
  return bare.startsWith('chatgpt-') ? TALKING : UNKNOWN
}

/** If the provider's own name says nothing, such as that of a deployment, our id of the model may. */
export const openAiModelOf = ({ upstreamModel, modelId }: Pick<Target, 'upstreamModel' | 'modelId'>): OpenAiModel => {
  const model = openAiModel(upstreamModel)
  return model === UNKNOWN ? openAiModel(modelId) : model
}

export const acceptsField = ({ accepts, acceptsUnthinking }: OpenAiModel, field: string, effort: string | null): boolean =>
  accepts.has(field) || (effort === 'none' && acceptsUnthinking.has(field))

const NO_FIELDS: ReadonlySet<string> = new Set()

/** Fields that a thinking model has no use for, and refuses. */
const SAMPLING = [
  'max_tokens',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'stop',
  'prediction',
]

/** Matches no tool type. */
const NO_TOOLS = /^$/

/** The computer use preview belongs to one model; its successor, from 5.4 on, has a tool type of its own. */
const COMPUTER = /^computer_use_preview$/

/** The smallest model of 4.1 cannot search the web. */
const COMPUTER_AND_SEARCH = /^(?:computer_use_preview|web_search)/

const UNKNOWN: OpenAiModel = {
  refusedTools: NO_TOOLS,
  reasons: null,
  efforts: null,
  hidesThinking: false,
  chatToolsRefused: 'never',
  cacheBreakpoints: false,
  phases: false,
  accepts: new Set([...SAMPLING, 'parallel_tool_calls', 'verbosity', 'prompt_cache_options', 'web_search_options']),
  acceptsUnthinking: NO_FIELDS,
}

const TALKING: OpenAiModel = {
  refusedTools: COMPUTER,
  reasons: false,
  efforts: [],
  hidesThinking: true,
  chatToolsRefused: 'never',
  cacheBreakpoints: false,
  phases: false,
  accepts: new Set([...SAMPLING, 'parallel_tool_calls']),
  acceptsUnthinking: NO_FIELDS,
}

/** o1 to o4 make one call at a time, and answer `parallel_tool_calls` with 400. */
const THINKING: OpenAiModel = { ...TALKING, reasons: true, accepts: NO_FIELDS }

const SEARCHING: OpenAiModel = { ...TALKING, accepts: new Set(['max_tokens', 'web_search_options']) }

const FIFTH = new Set(['parallel_tool_calls', 'verbosity'])
const WITH_BREAKPOINTS = new Set([...FIFTH, 'prompt_cache_options'])
const UNTHINKING = new Set(['temperature', 'top_p', 'logprobs', 'top_logprobs'])

const USUAL = ['low', 'medium', 'high']

/** Models of the sixth generation that take an effort and can also not think at all. */
const CALM_SIXTH = /^gpt-6(?:-(?:sol|luna)|\.\d+-terra)/

const gptModel = (name: string, major: number, minor: number): OpenAiModel => {
  const isAtLeast = (otherMajor: number, otherMinor: number): boolean => major > otherMajor || (major === otherMajor && minor >= otherMinor)
  if (name.includes('-search')) return SEARCHING
  if (name.startsWith('gpt-4.1-nano')) return { ...TALKING, refusedTools: COMPUTER_AND_SEARCH }
  if (!isAtLeast(5, 0)) return TALKING
  const cacheBreakpoints = isAtLeast(5, 6)
  // The first chat model of the generation did not think; its successors decide themselves how much to think.
  if (name.includes('-chat'))
    return isAtLeast(5, 1) ? { ...TALKING, cacheBreakpoints, reasons: null, efforts: ['medium'], accepts: FIFTH } : TALKING
  const model: OpenAiModel = {
    ...THINKING,
    // From 5.5 on the default effort is higher than `none`.
    chatToolsRefused: isAtLeast(5, 5) ? 'unless-none' : isAtLeast(5, 4) ? 'with-effort' : 'never',
    cacheBreakpoints,
    phases: isAtLeast(5, name.includes('-codex') ? 3 : 4),
    refusedTools: isAtLeast(5, 4) ? NO_TOOLS : COMPUTER,
    accepts: cacheBreakpoints ? WITH_BREAKPOINTS : FIFTH,
    acceptsUnthinking: major === 5 && minor >= 1 ? UNTHINKING : NO_FIELDS,
  }
  const most = [...(isAtLeast(5, 2) || name.includes('-codex-max') ? ['xhigh'] : []), ...(isAtLeast(5, 6) ? ['max'] : [])]
  if (name.includes('-pro')) return { ...model, efforts: isAtLeast(5, 2) ? ['medium', 'high', ...most] : ['high'] }
  // Codex models and most of the sixth generation cannot be stopped from thinking.
  const unstoppable = name.includes('-codex') || (major > 5 && !CALM_SIXTH.test(name))
  const least = unstoppable ? [] : [isAtLeast(5, 1) ? 'none' : 'minimal']
  return { ...model, efforts: [...least, ...USUAL, ...most] }
}
