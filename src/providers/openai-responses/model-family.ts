/**
 * What the name of an OpenAI model tells of how it thinks. The API refuses whole requests for an `include` or an effort
 * that the model does not know, so what a translation adds by itself has to fit the model. A name that tells nothing, as
 * on a local server, is taken as one that knows every word.
 */
export interface ModelFamily {
  /** Whether it thinks; null: unknown. */
  readonly reasons: boolean | null
  /** The least effort it accepts: for a request that wants no thinking. */
  readonly leastEffort: 'none' | 'minimal' | 'low' | 'high'
  /** Its thinking is never readable in full: a reasoning item with `content` is refused. */
  readonly hidesThinking: boolean
  /** Content may carry `prompt_cache_breakpoint`. */
  readonly cacheBreakpoints: boolean
}

/** `name` is the provider's own, perhaps behind a vendor (`openai/gpt-5.4`) or a mark of fine-tuning (`ft:gpt-4.1:…`). */
export const modelFamily = (name: string): ModelFamily => {
  const bare = name.slice(name.lastIndexOf('/') + 1).replace(/^ft:/, '')
  if (/^(?:o\d|codex-|computer-use)/.test(bare)) return family(true, 'low')
  if (bare.startsWith('chatgpt-')) return family(false, 'none')
  const version = /^gpt-(\d+)(?:\.(\d+))?/.exec(bare)
  if (version === null) return UNKNOWN
  const [major, minor] = [Number(version[1]), Number(version[2] ?? 0)]
  const cacheBreakpoints = major > 5 || (major === 5 && minor >= 6)
  if (major < 5 || bare.includes('-chat')) return family(false, 'none', cacheBreakpoints)
  if (bare.includes('-pro')) return family(true, 'high', cacheBreakpoints)
  // Thinking is all that Codex models do, and the sixth generation has not said that it can be turned off.
  if (bare.includes('-codex') || major > 5) return family(true, 'low', cacheBreakpoints)
  return family(true, minor === 0 ? 'minimal' : 'none', cacheBreakpoints)
}

const UNKNOWN: ModelFamily = { reasons: null, leastEffort: 'none', hidesThinking: false, cacheBreakpoints: false }

const family = (reasons: boolean, leastEffort: ModelFamily['leastEffort'], cacheBreakpoints = false): ModelFamily => ({
  reasons,
  leastEffort,
  hidesThinking: true,
  cacheBreakpoints,
})
