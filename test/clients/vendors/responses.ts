/** OpenAI's Responses. */
import { type Body, type Conversation, listOf, textOf, type Turn } from './conversation.ts'

export const readResponses = (body: Body): Conversation => {
  const { input } = body
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input)
  const textsOf = (...roles: string[]): string =>
    items.flatMap(({ role, content }) => (roles.includes(String(role)) ? [textOf(content)] : [])).join('\n')
  return {
    model: String(body['model']),
    stream: body['stream'] === true,
    system: `${textOf(body['instructions'])}\n${textsOf('system', 'developer')}`,
    asked: textsOf('user'),
    results: items.flatMap((item) => (String(item['type']).endsWith('_call_output') ? [textOf(item['output'])] : [])),
    toolNames: toolNames(body['tools']),
  }
}

/** Tools of a namespace are called by their own names. */
const toolNames = (tools: unknown): readonly string[] =>
  listOf(tools).flatMap(({ type, name, tools: inner }) =>
    type === 'namespace' ? toolNames(inner) : typeof name === 'string' ? [name] : [],
  )

export const writeResponses = ({ text, call }: Turn, { model, stream }: Conversation, id: string): readonly unknown[] => {
  const item =
    call === null
      ? {
          type: 'message',
          id: `msg_${id}`,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
        }
      : {
          type: 'function_call',
          id: `fc_${id}`,
          call_id: `call_${id}`,
          name: call.name,
          arguments: JSON.stringify(call.args),
          status: 'completed',
        }
  const response = (status: string, output: readonly unknown[]): object => ({
    id: `resp_${id}`,
    object: 'response',
    created_at: 1_700_000_000,
    status,
    model,
    output,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    top_p: 1,
    tool_choice: 'auto',
    tools: [],
    usage:
      status === 'completed'
        ? {
            input_tokens: 20,
            output_tokens: 5,
            total_tokens: 25,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens_details: { reasoning_tokens: 0 },
          }
        : null,
  })
  if (!stream) return [response('completed', [item])]
  const place = { item_id: item.id, output_index: 0 }
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
  const pieces =
    call === null
      ? [
          { type: 'response.content_part.added', ...place, content_index: 0, part },
          ...text.split(/(?<= )/).map((delta) => ({ type: 'response.output_text.delta', ...place, content_index: 0, delta, logprobs: [] })),
          { type: 'response.output_text.done', ...place, content_index: 0, text, logprobs: [] },
          { type: 'response.content_part.done', ...place, content_index: 0, part: { ...part, text } },
        ]
      : [
          { type: 'response.function_call_arguments.delta', ...place, delta: JSON.stringify(call.args) },
          { type: 'response.function_call_arguments.done', ...place, name: call.name, arguments: JSON.stringify(call.args) },
        ]
  const begun = { ...item, status: 'in_progress', ...(call === null ? { content: [] } : { arguments: '' }) }
  return [
    { type: 'response.created', response: response('in_progress', []) },
    { type: 'response.in_progress', response: response('in_progress', []) },
    { type: 'response.output_item.added', output_index: 0, item: begun },
    ...pieces,
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: response('completed', [item]) },
  ].map((event, number) => ({ ...event, sequence_number: number }))
}
