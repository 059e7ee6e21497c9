/** How each client is run: which ways it has to ask, and with what. */
import type { ToolCall } from './cases.ts'

export interface Driver {
  /** Which of its interfaces it asks by. */
  readonly ways: readonly string[]
  /** A file that reads the cases from stdin, beside this one. */
  readonly script: string
  /** Its dependencies fit no other's. */
  readonly alone?: true
  /** What its tools are called, and give. */
  readonly tools: readonly [ToolCall, ToolCall]
}

const SDK_TOOLS = [
  { name: 'get_weather', args: { city: 'Oslo' }, result: 'Weather in Oslo: mild' },
  { name: 'get_time', args: { zone: 'UTC' }, result: 'Time in UTC: noon' },
] as const

const sdk = (script: string, ...ways: readonly string[]): Driver => ({ ways, script, tools: SDK_TOOLS })

const AI_WAYS = ['chat', 'responses', 'messages', 'compatible', 'openrouter'] as const

export const DRIVERS: Readonly<Record<string, Driver>> = {
  'openai-python': sdk('python/openai_python.py', 'chat', 'responses'),
  'anthropic-python': sdk('python/anthropic_python.py', 'messages'),
  langchain: sdk('python/langchain_python.py', 'chat', 'responses', 'messages'),
  'pydantic-ai': sdk('python/pydantic_ai_agents.py', 'chat', 'responses', 'messages'),
  litellm: sdk('python/litellm_python.py', 'chat', 'messages'),
  'openai-agents': sdk('python/openai_agents.py', 'chat', 'responses'),
  'ai-7': sdk('javascript/vercel-ai.mjs', ...AI_WAYS),
  'ai-6': sdk('javascript/vercel-ai.mjs', ...AI_WAYS),
  'ai-5': sdk('javascript/vercel-ai.mjs', ...AI_WAYS),
  'openrouter-sdk': sdk('javascript/openrouter-sdk.mjs', 'chat'),
  'langchain-js': sdk('javascript/langchain-js.mjs', 'chat', 'responses', 'messages'),
}
