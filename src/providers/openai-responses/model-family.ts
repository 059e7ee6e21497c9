/**
 * What the name of an OpenAI model tells of how it thinks. The API refuses whole requests for an effort or an `include`
 * that the model does not know, so what a translation says has to fit the model. A name that tells nothing, as on a local
 * server, is taken as one that knows every word. Sources: the API's guide to reasoning, and the values that its refusals list.
 */
export interface ModelFamily {
  /** Whether it thinks; null: unknown. */
  readonly reasons: boolean | null
  /** The efforts it accepts, the least first; null: unknown. */
  readonly efforts: readonly string[] | null
  /** Its thinking is never readable in full: a reasoning item with `content` is refused. */
  readonly hidesThinking: boolean
  /** Content may carry `prompt_cache_breakpoint`. */
  readonly cacheBreakpoints: boolean
}

/** `name` is the provider's own, perhaps behind a vendor (`openai/gpt-5.4`) or a mark of fine-tuning (`ft:gpt-4.1:…`). */
export const modelFamily = (name: string): ModelFamily => {
  const bare = name.slice(name.lastIndexOf('/') + 1).replace(/^ft:/, '')
  const version = /^gpt-(\d+)(?:\.(\d+))?/.exec(bare)
  if (version !== null) return gptFamily(bare, Number(version[1]), Number(version[2] ?? 0))
  if (/^(?:o\d|codex-|computer-use)/.test(bare)) return { ...OPENAI, reasons: true, efforts: USUAL }
  return bare.startsWith('chatgpt-') ? OPENAI : UNKNOWN
}

const UNKNOWN: ModelFamily = { reasons: null, efforts: null, hidesThinking: false, cacheBreakpoints: false }
const OPENAI: ModelFamily = { reasons: false, efforts: [], hidesThinking: true, cacheBreakpoints: false }

const USUAL = ['low', 'medium', 'high']

const gptFamily = (name: string, major: number, minor: number): ModelFamily => {
  const isAtLeast = (otherMajor: number, otherMinor: number): boolean => major > otherMajor || (major === otherMajor && minor >= otherMinor)
  const family = { ...OPENAI, cacheBreakpoints: isAtLeast(5, 6) }
  if (!isAtLeast(5, 0)) return family
  // The first chat model of the generation did not think; its followers do as much as they see fit.
  if (name.includes('-chat')) return isAtLeast(5, 1) ? { ...family, reasons: null, efforts: ['medium'] } : family
  const most = [...(isAtLeast(5, 2) || name.includes('-codex-max') ? ['xhigh'] : []), ...(isAtLeast(5, 6) ? ['max'] : [])]
  if (name.includes('-pro')) return { ...family, reasons: true, efforts: isAtLeast(5, 2) ? ['medium', 'high', ...most] : ['high'] }
  // Codex models and the sixth generation cannot be kept from thinking.
  const least = name.includes('-codex') || major > 5 ? [] : [isAtLeast(5, 1) ? 'none' : 'minimal']
  return { ...family, reasons: true, efforts: [...least, ...USUAL, ...most] }
}
