/** The sandbox models for the catalogue (docs/contract/operating.md#sandbox). */
import { ERROR_TYPES } from '../../errors.ts'
import type { FailingName, SandboxName } from './script.ts'

export interface SandboxModel {
  /** Our id, which is also the provider's own name. */
  readonly id: string
  readonly name: string
  readonly description: string
  readonly contextLength: number
  readonly supportedParameters: readonly string[]
  /** The model either answers in some way or fails with one type of error. */
  readonly plays: 'answer' | 'error'
}

const CONTEXT_LENGTH = 1_000_000

const ALWAYS = ['max_tokens', 'max_completion_tokens', 'stop']

const DESCRIPTIONS: Readonly<Record<SandboxName, { readonly description: string; readonly parameters?: readonly string[] }>> = {
  echo: { description: 'Answers with the text of the last user message; without one, with a description of the request.' },
  lorem: { description: 'Streams a longer text. The body field sandbox sets its length and pace: {"tokens": 500, "delay_ms": 20}.' },
  tools: {
    description:
      'Calls each tool once, in parallel, or only the first if parallel calls are not wanted; given their results, answers with them.',
    parameters: ['tools', 'tool_choice', 'parallel_tool_calls'],
  },
  reasoning: { description: 'Thinks, unless the request says not to, then answers.', parameters: ['reasoning', 'include_reasoning'] },
  refusal: { description: 'Declines to answer.' },
  json: { description: 'Answers with JSON that satisfies the requested schema.', parameters: ['response_format', 'structured_outputs'] },
  slow: { description: 'Begins after three seconds and goes on slowly.' },
  cut: { description: 'Breaks off in the middle of the answer.' },
  empty: { description: 'Spends all its tokens on reasoning and says nothing.', parameters: ['reasoning', 'include_reasoning'] },
  agent: {
    description:
      'Does what the body field sandbox says, turn by turn, so that a loop of tools can be tried: {"script": [{"call": {"name": "service:datetime"}}, {"text": "Done."}]}.',
    parameters: ['tools', 'tool_choice'],
  },
  flaky: { description: 'Fails in the first attempt of a request and works in the next.' },
}

const FAILING: Readonly<Record<FailingName, { readonly name: string; readonly description: string }>> = {
  error: { name: 'error', description: 'Fails before the answer, with' },
  midstream: { name: 'mid-stream error', description: 'Fails after some tokens, with' },
}

export const SANDBOX_MODELS: readonly SandboxModel[] = [
  ...Object.entries(DESCRIPTIONS).map(([name, { description, parameters = [] }]) => ({
    id: `sandbox/${name}`,
    name: `Sandbox: ${name}`,
    description,
    contextLength: CONTEXT_LENGTH,
    supportedParameters: [...ALWAYS, ...parameters],
    plays: 'answer' as const,
  })),
  ...Object.entries(FAILING).flatMap(([kind, { name, description }]) =>
    ERROR_TYPES.map((type) => ({
      id: `sandbox/${kind}/${type}`,
      name: `Sandbox: ${name} ${type}`,
      description: `${description} ${type}.`,
      contextLength: CONTEXT_LENGTH,
      supportedParameters: ALWAYS,
      plays: 'error' as const,
    })),
  ),
]
