import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'

import { runTool, serve, TOOLS, TURNS_MAX } from './serve.mjs'

const modelFor = ({ way, model, key, retries, settings }, { api, host }) => {
  const common = { model, apiKey: key, maxRetries: retries, ...(settings ? { temperature: 0.2, maxTokens: 500 } : {}) }
  return way === 'messages'
    ? new ChatAnthropic({ maxTokens: 500, ...common, anthropicApiUrl: host })
    : new ChatOpenAI({ ...common, useResponsesApi: way === 'responses', configuration: { baseURL: api } })
}

const tools = TOOLS.map(({ name, description, parameters, run }) =>
  tool(async (args) => run(args), { name, description, schema: parameters }),
)

const whole = async (model, messages, stream) => {
  if (!stream) return model.invoke(messages)
  let answer
  for await (const chunk of await model.stream(messages)) answer = answer === undefined ? chunk : answer.concat(chunk)
  return answer
}

void serve(async (one, setting) => {
  const plain = modelFor(one, setting)
  const model = one.tools ? plain.bindTools(tools) : plain
  const messages = [new HumanMessage(one.prompt)]
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const answer = await whole(model, messages, one.stream)
    if ((answer.tool_calls ?? []).length === 0) return answer.text
    messages.push(answer)
    for (const { id, name, args } of answer.tool_calls) messages.push(new ToolMessage({ tool_call_id: id, content: runTool(name, args) }))
  }
  throw new Error('the loop does not end')
})
