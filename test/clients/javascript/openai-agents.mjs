import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'

import { serve, TOOLS, TURNS_MAX } from './serve.mjs'

setTracingDisabled(true)

const tools = TOOLS.map(({ name, description, parameters, run: execute }) =>
  tool({
    name,
    description,
    parameters: { ...parameters, additionalProperties: true },
    strict: false,
    execute: async (args) => execute(args),
  }),
)

void serve(async ({ way, model, prompt, stream, tools: withTools, settings, key, retries }, { api }) => {
  const client = new OpenAI({ baseURL: api, apiKey: key, maxRetries: retries })
  const Model = way === 'responses' ? OpenAIResponsesModel : OpenAIChatCompletionsModel
  const agent = new Agent({
    name: 'suite',
    model: new Model(client, model),
    modelSettings: settings ? { temperature: 0.2, maxTokens: 500 } : {},
    tools: withTools ? tools : [],
  })
  const result = await run(agent, prompt, { stream, maxTurns: TURNS_MAX })
  if (stream) await result.completed
  return result.finalOutput
})
