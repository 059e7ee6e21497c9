import { OpenRouter } from '@openrouter/sdk'

import { runTool, serve, TOOLS, TURNS_MAX } from './serve.mjs'

const RETRYING = { strategy: 'backoff', backoff: { initialInterval: 50, maxInterval: 100, exponent: 1.5, maxElapsedTime: 5000 } }

/** By default it retries only server errors. */
const RETRIED = { retryCodes: ['429', '5XX'] }

void serve(async ({ model, prompt, stream, tools, settings, key, retries }, { api }) => {
  const client = new OpenRouter({ apiKey: key, serverURL: api, retryConfig: retries > 0 ? RETRYING : { strategy: 'none' } })
  const messages = [{ role: 'user', content: prompt }]
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const chatRequest = {
      model,
      messages,
      stream,
      ...(tools
        ? { tools: TOOLS.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })) }
        : {}),
      ...(settings ? { temperature: 0.2, maxTokens: 500 } : {}),
    }
    const { content, calls } = read(
      stream ? await joined(await client.chat.send({ chatRequest }, RETRIED)) : await client.chat.send({ chatRequest }, RETRIED),
    )
    if (calls.length === 0) return content
    messages.push({ role: 'assistant', content: content || null, toolCalls: calls })
    for (const { id, function: about } of calls)
      messages.push({ role: 'tool', toolCallId: id, content: runTool(about.name, about.arguments) })
  }
  throw new Error('the loop does not end')
})

const read = ({ choices: [choice] }) => ({ content: choice.message.content ?? '', calls: choice.message.toolCalls ?? [] })

const joined = async (stream) => {
  let content = ''
  const toolCalls = []
  for await (const chunk of stream) {
    if (chunk.error) throw new Error(chunk.error.message)
    const delta = chunk.choices[0]?.delta
    content += delta?.content ?? ''
    for (const { index, id, function: about } of delta?.toolCalls ?? []) {
      toolCalls[index] ??= { id, type: 'function', function: { name: about?.name ?? '', arguments: '' } }
      toolCalls[index].function.arguments += about?.arguments ?? ''
    }
  }
  return { choices: [{ message: { content, toolCalls } }] }
}
