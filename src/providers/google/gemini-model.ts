/**
 * The abilities of a model, read from its name: the API does not report them, and refuses what a model lacks with a 400. Unknown names are
 * taken for the newest generation, to which Google points its aliases.
 */
export interface GeminiModel {
  readonly name: string
  /** The number of its family, such as 2.5; infinite for an alias of the newest one and for an unknown name, 0 for Gemma. */
  readonly generation: number
  readonly takesSystemInstruction: boolean
  /** It refuses calls of the history without a signature; results of tools may hold media. */
  readonly checksSignatures: boolean
  readonly readsUrls: boolean
  /** Each picture may have a resolution of its own (Google's page "Media resolution"). */
  readonly resolvesPictures: boolean
  /** It takes a schema of the answer together with functions. */
  readonly mixesJsonAndTools: boolean
  /** It continues the beginning of an answer if that is the last turn. Others refuse "requests ending with a model turn". */
  readonly prefill: boolean
  /** Google charges its searches by the prompt, however many queries it makes of one; it charges later models for each query. */
  readonly chargesSearchesByPrompt: boolean
  readonly thinking: Thinking
}

export type Thinking =
  | { readonly by: 'nothing' }
  | { readonly by: 'level'; readonly levels: readonly ThinkingLevel[]; readonly canStop: boolean }
  | { readonly by: 'budget'; readonly min: number; readonly max: number; readonly canStop: boolean }

export type ThinkingLevel = 'minimal' | 'low' | 'medium' | 'high'

/** `upstreamModel`: such as `gemini-2.5-pro` or `models/gemini-2.5-pro`. */
export const geminiModel = (upstreamModel: string): GeminiModel => {
  const name = upstreamModel.toLowerCase().replace(/^.*\//, '')
  const generation = generationOf(name)
  return {
    name,
    generation,
    takesSystemInstruction: generation > 0,
    checksSignatures: generation >= 3,
    readsUrls: generation > 2,
    resolvesPictures: generation >= 3,
    mixesJsonAndTools: generation >= 3,
    prefill: generation < (name.includes('-lite') ? 3.5 : 3.6),
    chargesSearchesByPrompt: generation < 3,
    thinking: thinkingOf(name, generation),
  }
}

const generationOf = (name: string): number => {
  if (/^(?:gemma|medgemma|shieldgemma|txgemma|translategemma)\b/.test(name)) return 0
  if (!name.startsWith('gemini-')) return Number.POSITIVE_INFINITY
  if (name === 'gemini-pro' || name === 'gemini-pro-vision') return 1
  const reported = /^gemini-(\d+(?:\.\d+)?)(?:-|$)/.exec(name)
  return reported === null ? Number.POSITIVE_INFINITY : Number(reported[1])
}

const thinkingOf = (name: string, generation: number): Thinking => {
  // Gemma 4 thinks or does not (Google's page "Run Gemma with the Gemini API", "Thinking").
  if (/^gemma-(?:[4-9]|\d\d)/.test(name)) return { by: 'level', levels: ENDS, canStop: true }
  if (generation < 2.5) return { by: 'nothing' }
  if (generation >= 3 && !name.startsWith('gemini-3-pro-image'))
    return { by: 'level', levels: name.includes('-image') ? ENDS : levelsOf(name, generation), canStop: false }
  if (generation === 2.5 && name.includes('-image')) return { by: 'nothing' }
  if (name.includes('-lite')) return { by: 'budget', min: 512, max: 24_576, canStop: true }
  if (name.includes('-pro')) return { by: 'budget', min: 128, max: 32_768, canStop: false }
  return { by: 'budget', min: 1, max: 24_576, canStop: true }
}

/** The levels of models that know only whether to think much. */
const ENDS = ['minimal', 'high'] as const

/** The level `minimal` was introduced with 3 Flash and removed with 3.7; the small models have it, the large ones never had it. */
const levelsOf = (name: string, generation: number): readonly ThinkingLevel[] =>
  name.includes('flash') && (name.includes('-lite') || generation < 3.7) ? ['minimal', 'low', 'medium', 'high'] : ['low', 'medium', 'high']
