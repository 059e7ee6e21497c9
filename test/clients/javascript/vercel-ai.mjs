/** `ai` 5, 6 and 7 with four providers. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { generateText, jsonSchema, streamText, tool } from 'ai'

import { serve, TOOLS, TURNS_MAX } from './serve.mjs'

const MODELS = {
  chat: (options) => createOpenAI(options).chat,
  responses: (options) => createOpenAI(options),
  messages: (options) => createAnthropic(options),
  compatible: (options) => createOpenAICompatible({ name: 'patchbay', ...options }),
  openrouter: (options) => createOpenRouter(options).chat,
}

const tools = Object.fromEntries(
  TOOLS.map(({ name, description, parameters, run }) => [
    name,
    tool({ description, inputSchema: jsonSchema(parameters), execute: async (args) => run(args) }),
  ]),
)

void serve(async ({ way, model, prompt, stream, tools: withTools, settings, key, retries }, { api }) => {
  const request = {
    model: MODELS[way]({ baseURL: api, apiKey: key })(model),
    prompt,
    maxRetries: retries,
    ...(withTools ? { tools, stopWhen: ({ steps }) => steps.length >= TURNS_MAX } : {}),
    ...(settings ? { temperature: 0.2, maxOutputTokens: 500 } : {}),
  }
  if (!stream) return (await generateText(request)).text
  const failures = []
  const result = streamText({ ...request, onError: ({ error }) => void failures.push(error) })
  await result.consumeStream()
  if (failures.length > 0) throw failures[0]
  return result.text
})
