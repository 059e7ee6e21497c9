/** The settings that the address of the playground holds: only parameters, so that a link holds nobody's texts and no secrets of tools. */
const PARAMETERS: ReadonlySet<string> = new Set([
  'temperature',
  'top_p',
  'top_k',
  'top_a',
  'min_p',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tool_calls',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'n',
  'logprobs',
  'top_logprobs',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'verbosity',
  'service_tier',
  'inference_geo',
  'truncation',
  'parallel_tool_calls',
  'models',
  'provider',
])

type Settings = Readonly<Record<string, unknown>>

const parametersOf = (settings: Settings): Settings => Object.fromEntries(Object.entries(settings).filter(([name]) => PARAMETERS.has(name)))

/** Returns undefined if there are no parameters. */
export const linkText = (settings: Settings): string | undefined => {
  const parameters = parametersOf(settings)
  return Object.keys(parameters).length === 0 ? undefined : JSON.stringify(parameters)
}

/** An address may hold anything; returns no settings if the text is not a JSON object. */
export const settingsInLink = (text: string | undefined): Settings => {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? parametersOf(value as Settings) : {}
  } catch {
    return {} // the address was written by hand
  }
}

/** The names of settings that a link leaves out. */
export const leftOut = (settings: Settings): readonly string[] => Object.keys(settings).filter((name) => !PARAMETERS.has(name))
