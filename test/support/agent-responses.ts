/** The scripted agent model in the dialect of OpenAI's Responses API. */
import { type AgentModel, emptyTurn, halves, textsOf, type Reported, turnOf } from './agent-model.ts'
import { callId, proofText, QUESTION, type ReportedTurn } from './agent-script.ts'

export const agentResponses: AgentModel = {
  payloads(turn) {
    const { thinking, text, calls } = turnOf(turn)
    const summary = [{ type: 'summary_text', text: thinking }]
    const output: Reported[] = [{ id: `rs_T${turn}`, type: 'reasoning', summary, encrypted_content: proofText('openai-responses', turn) }]
    const part = { type: 'output_text', text, annotations: [], logprobs: [] }
    if (text !== '') output.push({ id: `msg_T${turn}`, type: 'message', status: 'completed', role: 'assistant', content: [part] })
    for (const [index, { name, args }] of calls.entries())
      output.push({
        id: `fc_T${turn}_${index}`,
        type: 'function_call',
        status: 'completed',
        call_id: callId('openai-responses', turn, index),
        name,
        arguments: JSON.stringify(args),
      })
    const response = (status: string, items: readonly unknown[], usage: unknown): unknown => ({
      id: `resp_up${turn}`,
      object: 'response',
      created_at: 1_760_000_000,
      status,
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      model: 'responses-up',
      output: items,
      parallel_tool_calls: true,
      temperature: 1,
      tool_choice: 'auto',
      tools: [],
      top_p: 1,
      usage,
    })
    const usage = {
      input_tokens: 50,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 80,
    }
    const events: object[] = [
      { type: 'response.created', response: response('in_progress', [], null) },
      { type: 'response.in_progress', response: response('in_progress', [], null) },
      ...output.flatMap((item, index) => itemEvents(item, index)),
      { type: 'response.completed', response: response('completed', output, usage) },
    ]
    return events.map((event, number) => ({ ...event, sequence_number: number }))
  },
  read(body) {
    const faults: string[] = []
    const reported: ReportedTurn[] = []
    const items: readonly Reported[] = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : (body.input ?? [])
    const [question, ...rest] = items
    if (question?.role !== 'user' || !textsOf(question.content).includes(QUESTION)) faults.push('the question is not first')
    let open: ReportedTurn | null = null
    for (const item of rest) {
      if (item.type === 'function_call_output') {
        reported.at(-1)?.results.push({ id: item.call_id ?? '', text: textsOf(item.output) })
        open = null
        continue
      }
      if (open === null) reported.push((open = emptyTurn()))
      if (item.type === 'reasoning') {
        if (open.calls.length > 0 || open.text !== '') faults.push('thinking behind what it led to')
        if (item.encrypted_content !== undefined && item.encrypted_content !== null) open.proofs.push(item.encrypted_content)
        else faults.push('thinking without its proof')
      } else if (item.type === 'function_call')
        open.calls.push({ id: item.call_id ?? '', name: item.name ?? '', args: JSON.parse(item.arguments ?? '') })
      else if (item.role === 'assistant') open.text += textsOf(item.content)
      else faults.push(`an item ${item.type ?? item.role}`)
    }
    return { reported, faults }
  },
}

const itemEvents = (item: Reported, output_index: number): object[] => {
  const at = { item_id: item.id, output_index }
  const added = (started: unknown): object => ({ type: 'response.output_item.added', output_index, item: started })
  const done = { type: 'response.output_item.done', output_index, item }
  if (item.type === 'reasoning') {
    const text = textsOf(item.summary)
    const part = { ...at, summary_index: 0 }
    return [
      added({ ...item, summary: [] }),
      { type: 'response.reasoning_summary_part.added', ...part, part: { type: 'summary_text', text: '' } },
      ...halves(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...part, delta })),
      { type: 'response.reasoning_summary_text.done', ...part, text },
      { type: 'response.reasoning_summary_part.done', ...part, part: { type: 'summary_text', text } },
      done,
    ]
  }
  if (item.type === 'message') {
    const whole = { ...(item.content?.[0] as Reported), text: textsOf(item.content) }
    const part = { ...at, content_index: 0 }
    return [
      added({ ...item, status: 'in_progress', content: [] }),
      { type: 'response.content_part.added', ...part, part: { ...whole, text: '' } },
      ...halves(whole.text).map((delta) => ({ type: 'response.output_text.delta', ...part, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...part, text: whole.text, logprobs: [] },
      { type: 'response.content_part.done', ...part, part: whole },
      done,
    ]
  }
  return [
    added({ ...item, status: 'in_progress', arguments: '' }),
    ...halves(item.arguments ?? '').map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
    { type: 'response.function_call_arguments.done', ...at, name: item.name, arguments: item.arguments },
    done,
  ]
}
