/** The tasks of each client, and the results that show that it did them. Agents do the same as SDKs, with their own tools. */
import type { JsonObject } from '../../src/lib/json/json.ts'
import { callLine, PRESET_PROMPT, PRESET_SIGN } from './vendors/conversation.ts'
import { failLine, REASONS } from './vendors/failures.ts'
import { FOUND_URL } from './vendors/search-engine.ts'

const PRESET = 'clients'
const FETCHING_PRESET = 'fetching'

/** The presets of the suite, as they are saved. */
export const PRESETS: Readonly<Record<string, JsonObject>> = {
  // Anthropic's newest SDKs ask for a version of its API that refuses a temperature.
  [PRESET]: { model: 'anthropic/claude-haiku-4.5', instructions: PRESET_PROMPT, temperature: 0.5 },
  // The plugin is added to the tools that an agent sends itself.
  [FETCHING_PRESET]: { model: 'deepseek/deepseek-v4-pro', plugins: [{ id: 'web-fetch' }] },
}

/** `reason`: the client must report an error that matches it, within its time. */
type Expected = { readonly text: readonly string[] } | { readonly reason: RegExp }

export interface Case {
  readonly name: string
  readonly model: string
  /** `unique` distinguishes the runs of one case; `tools` are two calls of the client's own tools. */
  readonly prompt: (unique: string, tools: readonly [ToolCall, ToolCall]) => string
  readonly stream: boolean
  readonly tools: boolean
  /** Sends settings that some models refuse. */
  readonly settings: boolean
  readonly key: 'good' | 'wrong'
  /** The number of retries that the client makes itself. */
  readonly retries: number
  readonly expected: (tools: readonly [ToolCall, ToolCall]) => Expected
  /** Words that the client must not print. */
  readonly never?: RegExp
  /** The only client that runs the case. */
  readonly only?: string
  /** An MCP server with a tool runs beside the client: mcp-server.mjs. */
  readonly mcp?: true
  /** The client tries a WebSocket first, and must continue with HTTP without a second attempt. */
  readonly webSockets?: true
}

/** A call that the client can execute, and its expected result. */
export interface ToolCall {
  readonly name: string
  readonly args: JsonObject
  readonly result: string
}

const MODELS = {
  'gpt-5.4': 'openai/gpt-5.4',
  'claude-opus-4-8': 'anthropic/claude-opus-4.8',
  'claude-haiku-4-5-20251001': 'anthropic/claude-haiku-4.5',
  'deepseek-v4-pro': 'deepseek/deepseek-v4-pro',
} as const

const base = { stream: false, tools: false, settings: false, key: 'good', retries: 0 } as const

const hello = (upstream: string): Pick<Case, 'prompt' | 'expected'> => ({
  prompt: () => 'Hello!',
  expected: () => ({ text: [`Hello from ${upstream}.`] }),
})

const twoTools: Pick<Case, 'prompt' | 'expected' | 'tools'> = {
  tools: true,
  prompt: (_, tools) => tools.map(({ name, args }) => callLine(name, args)).join('\n'),
  expected: (tools) => ({ text: ['The tools said:', ...tools.map(({ result }) => result)] }),
}

const failing = (failure: keyof typeof REASONS): Pick<Case, 'prompt' | 'expected' | 'model'> => ({
  model: `failing/${failure}`,
  prompt: (unique) => failLine(failure, unique),
  expected: () => ({ reason: REASONS[failure] }),
})

export const CASES: readonly Case[] = [
  ...Object.entries(MODELS).flatMap(([upstream, model]): Case[] => [
    { ...base, name: `plain ${upstream}`, model, settings: true, ...hello(upstream) },
    { ...base, name: `streamed ${upstream}`, model, stream: true, ...hello(upstream) },
    { ...base, name: `tools ${upstream}`, model, ...twoTools },
    { ...base, name: `tools streamed ${upstream}`, model, stream: true, ...twoTools },
  ]),
  // Codex groups the tools of each server in a namespace, which only OpenAI's Responses supports.
  ...(['anthropic/claude-opus-4.8', 'deepseek/deepseek-v4-pro'] as const).map((model): Case => ({
    ...base,
    name: `a tool of an MCP server ${model}`,
    model,
    only: 'codex',
    mcp: true,
    prompt: () => callLine('find_letter', { from: 'Ada' }),
    expected: () => ({ text: ['The tools said:', 'A letter from Ada'] }),
  })),
  {
    ...base,
    name: 'a WebSocket first',
    model: 'deepseek/deepseek-v4-pro',
    only: 'codex',
    webSockets: true,
    retries: 5,
    ...hello('deepseek-v4-pro'),
    // It would print this before each retry.
    never: /Reconnecting/,
  },
  // Each client's own search tool runs in the service if the model's vendor has none.
  {
    ...base,
    name: 'its own web search',
    model: 'deepseek/deepseek-v4-pro',
    only: 'codex',
    prompt: () => callLine('service_web_search', { query: 'letters of Ada' }),
    expected: () => ({ text: ['The tools said:', FOUND_URL] }),
  },
  {
    ...base,
    name: 'its own web search',
    model: 'deepseek/deepseek-v4-pro',
    only: 'claude-code',
    // Its tool calls a model of its own, with the query in the prompt.
    prompt: () => callLine('WebSearch', { query: `letters of Ada\n${callLine('service_web_search', { query: 'letters of Ada' })}\n` }),
    expected: () => ({ text: ['The tools said:', FOUND_URL] }),
  },
  // Claude Code's own suffix for a long context.
  { ...base, name: 'a model with [1m]', model: 'claude-opus-4-8[1m]', only: 'claude-code', ...hello('claude-opus-4-8') },
  {
    ...base,
    name: 'a model with prefix and [1m]',
    model: 'anthropic/claude-opus-4.8[1m]',
    only: 'claude-code',
    ...hello('claude-opus-4-8'),
  },
  { ...base, name: 'a name without prefix', model: 'claude-sonnet-4-5', ...hello('claude-sonnet-4-5-20250929') },
  {
    ...base,
    name: 'a preset',
    model: `@preset/${PRESET}`,
    prompt: () => 'Hello!',
    expected: () => ({ text: [PRESET_SIGN, 'Hello from claude-haiku-4-5-20251001.'] }),
  },
  // No setting lets the service fetch a page of this machine, so for every client the model is told why the fetch failed.
  ...[false, true].map((stream): Case => ({
    ...base,
    name: `a page that the service reads${stream ? ', streamed' : ''}`,
    model: `@preset/${FETCHING_PRESET}`,
    stream,
    prompt: () => callLine('service_web_fetch', { url: 'http://127.0.0.1/' }),
    expected: () => ({ text: ['The tools said:', 'url_not_allowed'] }),
  })),
  {
    ...base,
    name: 'a wrong key',
    model: 'openai/gpt-5.4',
    key: 'wrong',
    prompt: () => 'Hello!',
    expected: () => ({ reason: /Invalid API key|401|authenticat/i }),
  },
  { ...base, name: '429', ...failing('429') },
  { ...base, name: '429 streamed', stream: true, ...failing('429') },
  {
    ...base,
    name: '429 once, retried',
    model: 'failing/once',
    retries: 2,
    prompt: (unique) => failLine('once', unique),
    expected: () => ({ text: ['Hello from once.'] }),
  },
  { ...base, name: '500', ...failing('500') },
  { ...base, name: 'too long', ...failing('overflow') },
  { ...base, name: 'too long streamed', stream: true, ...failing('overflow') },
]
