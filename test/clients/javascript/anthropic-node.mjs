import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'

import { runTool, serve, TOOLS, TURNS_MAX } from './serve.mjs'

const MAX_TOKENS = 500

/** The loop that programs write themselves. */
const messages = async (client, { model, prompt, stream, tools }) => {
  const conversation = [{ role: 'user', content: prompt }]
  const described = TOOLS.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }))
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const request = { model, max_tokens: MAX_TOKENS, messages: conversation, ...(tools ? { tools: described } : {}) }
    const { content } = stream ? await client.messages.stream(request).finalMessage() : await client.messages.create(request)
    const calls = content.filter(({ type }) => type === 'tool_use')
    if (calls.length === 0) return textOf(content)
    const results = calls.map(({ id, name, input }) => ({ type: 'tool_result', tool_use_id: id, content: runTool(name, input) }))
    conversation.push({ role: 'assistant', content }, { role: 'user', content: results })
  }
  throw new Error('the loop does not end')
}

/** The loop that the library runs: it asks for a thread to be continued, and sends everything again where none is kept. */
const runner = async (client, { model, prompt, stream, tools }) => {
  const runnable = TOOLS.map(({ parameters, ...about }) => betaTool({ ...about, inputSchema: parameters }))
  const { content } = await client.beta.messages.toolRunner({
    model,
    max_tokens: MAX_TOKENS,
    max_iterations: TURNS_MAX,
    messages: [{ role: 'user', content: prompt }],
    tools: tools ? runnable : [],
    stream,
  })
  return textOf(content)
}

const textOf = (content) => content.map(({ text = '' }) => text).join('')

const WAYS = { messages, runner }

void serve((one, { host }) => WAYS[one.way](new Anthropic({ baseURL: host, apiKey: one.key, maxRetries: one.retries }), one))
