/** How each client is run: the interfaces that it can use, and its program. */
import type { JsonObject } from '../../src/lib/json/json.ts'
import type { ToolCall } from './cases.ts'

export interface Driver {
  /** The interfaces that it uses. */
  readonly ways: readonly string[]
  /** A file in the folder of its language that reads the cases from stdin; for Go, the name of the built program. */
  readonly script: string
  /** Cases that it does not run, and why. */
  readonly leavesOut?: readonly (readonly [RegExp, string])[]
  /** Its dependencies conflict with those of others. */
  readonly alone?: true
  /** Lines that it prints besides the answer. */
  readonly prints?: RegExp
  /** The names of its tools, and their results. */
  readonly tools: readonly [ToolCall, ToolCall]
}

const SDK_TOOLS = [
  { name: 'get_weather', args: { city: 'Oslo' }, result: 'Weather in Oslo: mild' },
  { name: 'get_time', args: { zone: 'UTC' }, result: 'Time in UTC: noon' },
] as const

const sdk = (script: string, ...ways: readonly string[]): Driver => ({ ways, script, tools: SDK_TOOLS })

/** Agents have their own tools: a shell, in which two commands are run. */
const shell = (name: string, argument: string, more: JsonObject = {}): Driver['tools'] => [
  { name, args: { [argument]: 'echo first-tool', ...more }, result: 'first-tool' },
  { name, args: { [argument]: 'echo second-tool', ...more }, result: 'second-tool' },
]

type Left = NonNullable<Driver['leavesOut']>[number]

const STREAMS: Left = [/streamed/, 'It always streams: the case beside this one is the same.']
const LOOPS: Left = [/^plain/, 'The loop with tools asks the same of each model.']

const AI_WAYS = ['chat', 'responses', 'messages', 'compatible', 'openrouter'] as const

export const DRIVERS: Readonly<Record<string, Driver>> = {
  'openai-go': sdk('driver', 'chat', 'responses'),
  'anthropic-sdk-go': sdk('driver', 'messages'),
  'claude-code': {
    ways: ['messages'],
    script: 'claude-code.mjs',
    tools: shell('Bash', 'command', { description: 'Says a word' }),
    leavesOut: [STREAMS, LOOPS],
  },
  codex: { ways: ['responses'], script: 'codex.mjs', tools: shell('exec_command', 'cmd'), leavesOut: [STREAMS, LOOPS] },
  opencode: {
    ways: ['chat', 'messages', 'responses'],
    script: 'opencode.mjs',
    // The name of the agent and of the model.
    prints: /^> .*$/gm,
    tools: shell('bash', 'command', { description: 'Says a word' }),
    leavesOut: [STREAMS, LOOPS, [/^(429|500)$/, 'It waits and tries again without an end.']],
  },
  aider: {
    ways: ['chat'],
    script: 'aider_cli.py',
    tools: SDK_TOOLS,
    alone: true,
    leavesOut: [
      [/tools/, 'It calls no tools.'],
      [/streamed/, 'Streamed or not, it is asked in the same way.'],
      [/^a page/, 'It opens every address in a question itself, before it asks.'],
      [/^(a wrong key|429|500)$/, 'It tries again for minutes before it says why.'],
    ],
  },
  'openai-python': sdk('openai_python.py', 'chat', 'responses'),
  'anthropic-python': sdk('anthropic_python.py', 'messages', 'runner'),
  'openai-node': sdk('openai-node.mjs', 'chat', 'responses'),
  'anthropic-node': sdk('anthropic-node.mjs', 'messages', 'runner'),
  langchain: sdk('langchain_python.py', 'chat', 'responses', 'messages'),
  'pydantic-ai': sdk('pydantic_ai_agents.py', 'chat', 'responses', 'messages'),
  litellm: sdk('litellm_python.py', 'chat', 'messages'),
  'openai-agents': sdk('openai_agents.py', 'chat', 'responses'),
  'ai-7': sdk('vercel-ai.mjs', ...AI_WAYS),
  'ai-6': sdk('vercel-ai.mjs', ...AI_WAYS),
  'ai-5': sdk('vercel-ai.mjs', ...AI_WAYS),
  'openai-agents-js': sdk('openai-agents.mjs', 'chat', 'responses'),
  'openrouter-sdk': sdk('openrouter-sdk.mjs', 'chat'),
  'langchain-js': sdk('langchain-js.mjs', 'chat', 'responses', 'messages'),
}
