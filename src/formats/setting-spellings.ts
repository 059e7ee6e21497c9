/**
 * Where each interface keeps the settings that the three of them spell differently. The one table behind three
 * questions: how a preset is translated (translate-config.ts), which fields of one body set the same thing, and what a
 * lock holds (apply-preset.ts). Source: contract 1.3.
 */
import { CLIENT_DIALECTS, type ClientDialect } from '../canonical/call.ts'

export type Setting =
  | 'outputTokens'
  | 'stop'
  | 'outputFormat'
  | 'verbosity'
  | 'reasoning'
  | 'tools'
  | 'toolChoice'
  | 'parallelCalls'
  | 'fallbackModels'
  | 'tier'
  | 'modalities'

/** Paths of at most two steps, the one to write first; none where the interface has no such setting. */
type Spelling = Readonly<Record<ClientDialect, readonly string[]>>

export const SPELLINGS: Readonly<Record<Setting, Spelling>> = {
  outputTokens: { chat: ['max_completion_tokens', 'max_tokens'], responses: ['max_output_tokens'], messages: ['max_tokens'] },
  stop: { chat: ['stop'], responses: [], messages: ['stop_sequences'] },
  outputFormat: { chat: ['response_format'], responses: ['text.format'], messages: ['output_config.format'] },
  verbosity: { chat: ['verbosity'], responses: ['text.verbosity'], messages: [] },
  reasoning: {
    chat: ['reasoning', 'reasoning_effort', 'include_reasoning'],
    responses: ['reasoning'],
    messages: ['thinking', 'output_config.effort'],
  },
  tools: { chat: ['tools'], responses: ['tools'], messages: ['tools'] },
  toolChoice: { chat: ['tool_choice'], responses: ['tool_choice'], messages: ['tool_choice'] },
  parallelCalls: {
    chat: ['parallel_tool_calls'],
    responses: ['parallel_tool_calls'],
    messages: ['tool_choice.disable_parallel_tool_use'],
  },
  fallbackModels: { chat: ['models'], responses: ['models'], messages: ['models', 'fallbacks'] },
  tier: { chat: ['service_tier'], responses: ['service_tier'], messages: ['service_tier', 'speed'] },
  modalities: { chat: ['modalities'], responses: ['modalities'], messages: [] },
}

const ALL = Object.values(SPELLINGS)

/** The top-level fields of one interface that set the same thing as `field`, itself included. */
export const sameSetting = (dialect: ClientDialect, field: string): readonly string[] => {
  const paths = ALL.find((spelling) => spelling[dialect].includes(field))?.[dialect] ?? []
  return paths.length > 1 ? paths.filter((path) => !path.includes('.')) : [field]
}

/**
 * The paths of `dialect` that a lock of a preset of shape `shape` holds. A lock may name a setting as any interface
 * does; the preset's own interface is asked first what the name means.
 */
export const lockedPaths = (shape: ClientDialect, dialect: ClientDialect, name: string): readonly string[] => {
  // A lock on the model that let a request bring other models would lock nothing.
  if (name === 'model') return ['model', ...SPELLINGS.fallbackModels[dialect]]
  const covers = (path: string): boolean => path === name || path.startsWith(`${name}.`)
  const speaker = [shape, dialect, ...CLIENT_DIALECTS].find((speaker) => ALL.some((spelling) => spelling[speaker].some(covers)))
  return speaker === undefined || speaker === dialect
    ? sameSetting(dialect, name)
    : ALL.filter((spelling) => spelling[speaker].some(covers)).flatMap((spelling) => spelling[dialect])
}
