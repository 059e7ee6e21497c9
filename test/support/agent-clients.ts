/**
 * The agent loop as programs write it, in each client library: send a request, run the tools, send everything back, until there is a final
 * answer.
 */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { HTTPClient, OpenRouter } from '@openrouter/sdk'
import type { ChatMessages, ChatStreamChunk } from '@openrouter/sdk/models'
import { jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'

import { QUESTION, toolResult, TURNS } from './agent-script.ts'

export interface AgentSetting {
  /** The base URL of the API, which ends in `/api/v1`. */
  readonly api: string
  readonly key: string
  /** The fetch that the library must use; it sees the headers of every response. */
  readonly fetch: typeof fetch
  /** The model of each turn. */
  readonly modelOf: (turn: number) => string
}

export interface AgentClient {
  readonly name: string
  /** Says whether the library sends back the proofs of thinking that models need; some have no field for them. */
  readonly carriesProofs: boolean
  /** Runs the loop and returns the last text. */
  readonly run: (setting: AgentSetting) => Promise<string>
}

const TOOLS = [
  { name: 'get_weather', description: 'Weather of a city.', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  { name: 'get_time', description: 'Time in a zone.', parameters: { type: 'object', properties: { zone: { type: 'string' } } } },
] as const

const TURNS_MAX = TURNS.length + 2
const tooLong = (): Error => new Error('The loop does not end.')

const CHAT_TOOLS: OpenAI.ChatCompletionTool[] = TOOLS.map((about) => ({ type: 'function', function: about }))

/** Joins the pieces of `reasoning_details` as programs do: by index, with texts concatenated and other members overwritten. */
type Detail = Record<string, unknown> & { readonly index?: number }
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const mergeDetails = (all: Detail[], pieces: readonly Detail[]): void => {
  for (const piece of pieces) {
    const open = all.find(({ index, type }) => index !== undefined && index === piece.index && type === piece['type'])
    if (open === undefined) {
      all.push({ ...piece })
      continue
    }
    for (const [field, value] of Object.entries(piece)) {
      const joined = field === 'text' || field === 'summary' || field === 'data'
      Object.assign(open, { [field]: joined ? `${textOf(open[field])}${textOf(value)}` : value })
    }
  }
}

const openAiOf = ({ api, key, fetch }: AgentSetting): OpenAI => new OpenAI({ apiKey: key, baseURL: api, maxRetries: 0, fetch })

const chatStream: AgentClient = {
  name: 'openai, chat.completions.stream()',
  carriesProofs: true,
  async run(setting) {
    const client = openAiOf(setting)
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: QUESTION }]
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      const details: Detail[] = []
      const body = { model: setting.modelOf(turn), messages, tools: CHAT_TOOLS, reasoning_effort: 'medium' } as const
      const stream = client.chat.completions
        .stream(body)
        .on('chunk', ({ choices: [choice] }) =>
          mergeDetails(details, (choice?.delta as { reasoning_details?: Detail[] } | undefined)?.reasoning_details ?? []),
        )
      const final = await stream.finalChatCompletion()
      const message = final.choices[0]?.message
      if (message === undefined) throw new Error('no choice')
      const { tool_calls: calls = [] } = message
      if (calls.length === 0) return message.content ?? ''
      messages.push({
        role: 'assistant',
        content: message.content,
        tool_calls: calls,
        reasoning_details: details,
      } as OpenAI.ChatCompletionMessageParam)
      for (const call of calls)
        if (call.type === 'function')
          messages.push({
            role: 'tool',
            tool_call_id: call.id,
            content: toolResult(call.function.name, JSON.parse(call.function.arguments)),
          })
    }
    throw tooLong()
  },
}

const chatChunks: AgentClient = {
  name: 'openai, chat.completions.create({stream: true})',
  carriesProofs: true,
  async run(setting) {
    const client = openAiOf(setting)
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: QUESTION }]
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      let content = ''
      const details: Detail[] = []
      const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = []
      const body = { model: setting.modelOf(turn), messages, tools: CHAT_TOOLS, reasoning_effort: 'medium', stream: true } as const
      for await (const {
        choices: [choice],
      } of await client.chat.completions.create(body)) {
        content += choice?.delta.content ?? ''
        mergeDetails(details, (choice?.delta as { reasoning_details?: Detail[] } | undefined)?.reasoning_details ?? [])
        for (const { index, id = '', function: about } of choice?.delta.tool_calls ?? []) {
          calls[index] ??= { id, type: 'function', function: { name: about?.name ?? '', arguments: '' } }
          calls[index].function.arguments += about?.arguments ?? ''
        }
      }
      if (calls.length === 0) return content
      messages.push({
        role: 'assistant',
        content: content || null,
        tool_calls: calls,
        reasoning_details: details,
      } as OpenAI.ChatCompletionMessageParam)
      for (const { id, function: about } of calls)
        messages.push({ role: 'tool', tool_call_id: id, content: toolResult(about.name, JSON.parse(about.arguments)) })
    }
    throw tooLong()
  },
}

const responsesStream: AgentClient = {
  name: 'openai, responses.stream()',
  carriesProofs: true,
  async run(setting) {
    const client = openAiOf(setting)
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: QUESTION }]
    const tools = TOOLS.map((about) => ({ type: 'function' as const, ...about, strict: false }))
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      const stream = client.responses.stream({
        model: setting.modelOf(turn),
        input,
        tools,
        store: false,
        include: ['reasoning.encrypted_content'],
        reasoning: { effort: 'medium' },
      })
      const { output, output_text: text } = await stream.finalResponse()
      const calls = output.filter((item) => item.type === 'function_call')
      if (calls.length === 0) return text
      // The helper adds its parsed arguments, which the API has no field for.
      for (const item of output) {
        const { parsed_arguments: _, ...sent } = item as typeof item & { parsed_arguments?: unknown }
        input.push(sent as OpenAI.Responses.ResponseInputItem)
      }
      for (const { call_id, name, arguments: json } of calls)
        input.push({ type: 'function_call_output', call_id, output: toolResult(name, JSON.parse(json)) })
    }
    throw tooLong()
  },
}

const messagesStream: AgentClient = {
  name: '@anthropic-ai/sdk, messages.stream()',
  carriesProofs: true,
  async run({ api, key, fetch, modelOf }) {
    const client = new Anthropic({ apiKey: key, baseURL: api.replace(/\/v1$/, ''), maxRetries: 0, fetch })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: QUESTION }]
    const tools = TOOLS.map(({ name, description, parameters }) => ({ name, description, input_schema: { ...parameters } }))
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      const stream = client.messages.stream({
        model: modelOf(turn),
        max_tokens: 8000,
        thinking: { type: 'enabled', budget_tokens: 2000 },
        messages,
        tools,
      })
      const { content } = await stream.finalMessage()
      const calls = content.filter((block) => block.type === 'tool_use')
      if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      messages.push({ role: 'assistant', content })
      messages.push({
        role: 'user',
        content: calls.map(({ id, name, input }) => ({ type: 'tool_result', tool_use_id: id, content: toolResult(name, input) })),
      })
    }
    throw tooLong()
  },
}

const openRouterChat: AgentClient = {
  name: '@openrouter/sdk, chat.send()',
  carriesProofs: true,
  async run({ api, key, fetch, modelOf }) {
    const httpClient = new HTTPClient({ fetcher: (input, init) => fetch(input as Request, init) })
    const client = new OpenRouter({ apiKey: key, serverURL: api, retryConfig: { strategy: 'none' }, httpClient })
    const messages: ChatMessages[] = [{ role: 'user', content: QUESTION }]
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      let content = ''
      const details: Detail[] = []
      const toolCalls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = []
      const tools = TOOLS.map((about) => ({ type: 'function' as const, function: about }))
      const chatRequest = { model: modelOf(turn), messages, tools, reasoning: { effort: 'medium' as const }, stream: true as const }
      for await (const chunk of (await client.chat.send({ chatRequest })) as unknown as AsyncIterable<ChatStreamChunk>) {
        const delta = chunk.choices[0]?.delta
        content += delta?.content ?? ''
        mergeDetails(details, (delta?.reasoningDetails ?? []) as unknown as Detail[])
        for (const { index, id = '', function: about } of delta?.toolCalls ?? []) {
          toolCalls[index] ??= { id, type: 'function', function: { name: about?.name ?? '', arguments: '' } }
          toolCalls[index].function.arguments += about?.arguments ?? ''
        }
      }
      if (toolCalls.length === 0) return content
      messages.push({ role: 'assistant', content: content || null, toolCalls, reasoningDetails: details } as unknown as ChatMessages)
      for (const { id, function: about } of toolCalls)
        messages.push({ role: 'tool', toolCallId: id, content: toolResult(about.name, JSON.parse(about.arguments)) })
    }
    throw tooLong()
  },
}

type Options = Parameters<typeof streamText>[0]['providerOptions']

/** The `ai` library runs the loop itself. */
const aiLoop = (
  name: string,
  carriesProofs: boolean,
  languageModel: (setting: AgentSetting) => (model: string) => LanguageModel,
  providerOptions: Options,
): AgentClient => ({
  name,
  carriesProofs,
  async run(setting) {
    const modelNamed = languageModel(setting)
    const tools = Object.fromEntries(
      TOOLS.map(({ name: toolName, description, parameters }) => [
        toolName,
        tool({
          description,
          inputSchema: jsonSchema({ ...parameters, properties: { ...parameters.properties } }),
          execute: async (input: unknown) => toolResult(toolName, input),
        }),
      ]),
    )
    const failures: unknown[] = []
    const result = streamText({
      model: modelNamed(setting.modelOf(0)),
      prompt: QUESTION,
      tools,
      maxRetries: 0,
      stopWhen: stepCountIs(TURNS_MAX),
      prepareStep: ({ stepNumber }) => ({ model: modelNamed(setting.modelOf(stepNumber)) }),
      onError: ({ error }) => void failures.push(error),
      ...(providerOptions === undefined ? {} : { providerOptions }),
    })
    await result.consumeStream()
    if (failures.length > 0) throw failures[0]
    return result.text
  },
})

const AI_CLIENTS: readonly AgentClient[] = [
  aiLoop('ai with @ai-sdk/openai, chat', false, ({ api, key, fetch }) => createOpenAI({ apiKey: key, baseURL: api, fetch }).chat, {}),
  aiLoop('ai with @ai-sdk/openai, responses', true, ({ api, key, fetch }) => createOpenAI({ apiKey: key, baseURL: api, fetch }).responses, {
    openai: { store: false, include: ['reasoning.encrypted_content'], forceReasoning: true, reasoningEffort: 'medium' },
  }),
  aiLoop('ai with @ai-sdk/anthropic', true, ({ api, key, fetch }) => createAnthropic({ apiKey: key, baseURL: api, fetch }), {
    anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } },
  }),
  aiLoop(
    'ai with @openrouter/ai-sdk-provider',
    true,
    ({ api, key, fetch }) =>
      (model) =>
        createOpenRouter({ apiKey: key, baseURL: api, fetch }).chat(model),
    {
      openrouter: { reasoning: { effort: 'medium' } },
    },
  ),
]

export const AGENT_CLIENTS: readonly AgentClient[] = [
  chatStream,
  chatChunks,
  responsesStream,
  messagesStream,
  openRouterChat,
  ...AI_CLIENTS,
]
