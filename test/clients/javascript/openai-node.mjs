import OpenAI from 'openai'

import { runTool, serve, TOOLS, TURNS_MAX } from './serve.mjs'

const chat = async (client, { model, prompt, stream, tools, settings }) => {
  const messages = [{ role: 'user', content: prompt }]
  const more = {
    ...(tools
      ? { tools: TOOLS.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })) }
      : {}),
    ...(settings ? { temperature: 0.2, max_tokens: 500 } : {}),
  }
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const request = { model, messages, ...more }
    const { choices } = stream
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request)
    const [{ message }] = choices
    if (!message.tool_calls?.length) return message.content
    messages.push(message)
    for (const { id, function: about } of message.tool_calls)
      messages.push({ role: 'tool', tool_call_id: id, content: runTool(about.name, about.arguments) })
  }
  throw new Error('the loop does not end')
}

const responses = async (client, { model, prompt, stream, tools, settings }) => {
  const input = [{ role: 'user', content: prompt }]
  const more = {
    ...(tools
      ? { tools: TOOLS.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters, strict: false })) }
      : {}),
    ...(settings ? { temperature: 0.2, max_output_tokens: 500 } : {}),
  }
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const request = { model, input, ...more }
    const { output, output_text: text } = stream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request)
    const calls = output.filter(({ type }) => type === 'function_call')
    if (calls.length === 0) return text
    for (const { call_id, name, arguments: json } of calls)
      input.push(
        { type: 'function_call', call_id, name, arguments: json },
        { type: 'function_call_output', call_id, output: runTool(name, json) },
      )
  }
  throw new Error('the loop does not end')
}

const WAYS = { chat, responses }

void serve((one, { api }) => WAYS[one.way](new OpenAI({ baseURL: api, apiKey: one.key, maxRetries: one.retries }), one))
