/** The scripted agent model in each provider dialect, by the name of the dialect. */
import { type AgentModel, emptyTurn, halves, textsOf, type Reported, turnOf } from './agent-model.ts'
import { agentResponses } from './agent-responses.ts'
import { callId, isRedacted, proofText, QUESTION, type ReportedTurn } from './agent-script.ts'
import { messagesEvents } from './messages-events.ts'
import type { SseDialect } from './recordings.ts'

const anthropic: AgentModel = {
  payloads(turn) {
    const { thinking, text, calls } = turnOf(turn)
    const proof = proofText('anthropic', turn)
    const blocks: { start: unknown; deltas: unknown[] }[] = [
      isRedacted(turn)
        ? { start: { type: 'redacted_thinking', data: proof }, deltas: [] }
        : {
            start: { type: 'thinking', thinking: '', signature: '' },
            deltas: [
              ...halves(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
              { type: 'signature_delta', signature: proof },
            ],
          },
    ]
    if (text !== '')
      blocks.push({ start: { type: 'text', text: '' }, deltas: halves(text).map((piece) => ({ type: 'text_delta', text: piece })) })
    for (const [index, { name, args }] of calls.entries()) {
      const json = Object.keys(args).length === 0 ? '' : JSON.stringify(args)
      blocks.push({
        start: { type: 'tool_use', id: callId('anthropic', turn, index), name, input: {} },
        deltas: halves(json).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      })
    }
    const usage = {
      input_tokens: 50,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 1,
      service_tier: 'standard',
    }
    return messagesEvents({
      id: `msg_up${turn}`,
      model: 'claude-up',
      usage,
      blocks,
      stopReason: calls.length > 0 ? 'tool_use' : 'end_turn',
      outputTokens: 30,
    })
  },
  read(body) {
    const faults: string[] = []
    const reported: ReportedTurn[] = []
    const [question, ...rest] = body.messages ?? []
    if (question?.role !== 'user' || !textsOf(question.content).includes(QUESTION)) faults.push('the question is not first')
    for (const { role, content } of rest) {
      const blocks: readonly Reported[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
      if (role === 'assistant') {
        const turn = emptyTurn()
        for (const [position, block] of blocks.entries()) {
          if (block.type === 'thinking') turn.proofs.push(`${block.thinking} ${block.signature}`)
          else if (block.type === 'redacted_thinking') turn.proofs.push(`redacted ${block.data}`)
          else if (block.type === 'text') turn.text += block.text
          else if (block.type === 'tool_use') turn.calls.push({ id: block.id ?? '', name: block.name ?? '', args: block.input })
          else faults.push(`a block of type ${block.type}`)
          if (/thinking/.test(block.type ?? '') && position > 0) faults.push('thinking behind other blocks')
          if (block.type === 'tool_use' && !/^[\w-]+$/.test(block.id ?? '')) faults.push(`a call named ${block.id}`)
        }
        reported.push(turn)
      } else {
        for (const block of blocks)
          if (block.type === 'tool_result') reported.at(-1)?.results.push({ id: block.tool_use_id ?? '', text: textsOf(block.content) })
          else faults.push(`a ${block.type} among the results`)
      }
    }
    const last = rest.findLast((message) => message.role === 'assistant')
    const begins = typeof last?.content === 'string' ? '' : (last?.content?.[0]?.type ?? '')
    // The API refuses such a turn: "Expected `thinking` or `redacted_thinking`, but found …".
    if (body.thinking?.type === 'enabled' && last !== undefined && !/thinking/.test(begins))
      faults.push(`thinking is enabled, but the last turn begins with ${begins || 'a text'}`)
    return { reported, faults }
  },
}

const openaiChat: AgentModel = {
  payloads(turn) {
    const { thinking, text, calls } = turnOf(turn)
    const chunk = (delta: unknown, finish: string | null = null): unknown => ({
      id: `chatcmpl-up${turn}`,
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model: 'chat-up',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
    const call = (index: number, more: unknown, name?: string): unknown =>
      chunk({
        tool_calls: [
          { index, ...(name === undefined ? {} : { id: callId('openai-chat', turn, index), type: 'function' }), function: more },
        ],
      })
    return [
      chunk({ role: 'assistant', content: null, reasoning_content: thinking }),
      ...(text === '' ? [] : halves(text).map((content) => chunk({ content }))),
      ...calls.map(({ name }, index) => call(index, { name, arguments: '' }, name)),
      // Interleaved, as parallel calls may be streamed.
      ...[0, 1].flatMap((half) => calls.map(({ args }, index) => call(index, { arguments: halves(JSON.stringify(args))[half] }))),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      { ...(chunk({}) as object), choices: [], usage: { prompt_tokens: 50, completion_tokens: 30, total_tokens: 80 } },
    ]
  },
  read(body) {
    const faults: string[] = []
    const reported: ReportedTurn[] = []
    const [question, ...rest] = body.messages ?? []
    if (question?.role !== 'user' || !textsOf(question.content).includes(QUESTION)) faults.push('the question is not first')
    for (const message of rest) {
      if (message.role === 'assistant')
        reported.push({
          text: textsOf(message.content),
          // An operator's own server may be a router that needs them, so whatever the client sends is passed on.
          proofs: [],
          calls: (message.tool_calls ?? []).map((call) => ({
            id: call.id ?? '',
            name: call.function?.name ?? '',
            args: JSON.parse(call.function?.arguments ?? ''),
          })),
          results: [],
        })
      else if (message.role === 'tool') reported.at(-1)?.results.push({ id: message.tool_call_id ?? '', text: textsOf(message.content) })
      else faults.push(`a message of ${message.role}`)
    }
    return { reported, faults }
  },
}

const google: AgentModel = {
  payloads(turn) {
    const { thinking, text, calls } = turnOf(turn)
    const usageMetadata = { promptTokenCount: 50, candidatesTokenCount: 25, thoughtsTokenCount: 5, totalTokenCount: 80 }
    const chunk = (parts: readonly unknown[], more: object = {}): unknown => ({
      candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
      usageMetadata,
      modelVersion: 'gemini-up',
      responseId: `resp${turn}`,
    })
    const thoughtSignature = proofText('google', turn)
    // The first of parallel calls carries the signature; in a turn without calls the signature follows the text.
    const callParts = calls.map(({ name, args }, index) => ({ functionCall: { name, args }, ...(index === 0 ? { thoughtSignature } : {}) }))
    return [
      chunk([{ text: thinking, thought: true }]),
      ...(text === '' ? [] : halves(text).map((piece) => chunk([{ text: piece }]))),
      chunk(callParts.length > 0 ? callParts : [{ text: '', thoughtSignature }], { finishReason: 'STOP' }),
    ]
  },
  read(body) {
    const faults: string[] = []
    const reported: ReportedTurn[] = []
    const [question, ...rest] = body.contents ?? []
    if (question?.role !== 'user' || !textsOf(question.parts).includes(QUESTION)) faults.push('the question is not first')
    for (const [position, { role, parts }] of rest.entries()) {
      if (role !== ['model', 'user'][position % 2]) faults.push(`content ${position} of ${role}`)
      if (role === 'model') {
        const turn = emptyTurn()
        for (const part of parts ?? []) {
          if (part.thoughtSignature !== undefined && part.thoughtSignature !== STANDS_FOR_A_PROOF) turn.proofs.push(part.thoughtSignature)
          if (part.functionCall !== undefined)
            turn.calls.push({
              id: `${part.functionCall.name} ${turn.calls.length}`,
              name: part.functionCall.name,
              args: part.functionCall.args ?? {},
            })
          else if (part.thought !== true) turn.text += part.text ?? ''
        }
        reported.push(turn)
      } else {
        const results = reported.at(-1)?.results
        for (const { functionResponse: result } of parts ?? [])
          results?.push({ id: `${result?.name} ${results.length}`, text: resultText(result?.response) })
      }
    }
    return { reported, faults }
  },
}

/** The API's placeholder for a call without a proof, such as a call made by another model (ai.google.dev, "Thought signatures"). */
const STANDS_FOR_A_PROOF = 'skip_thought_signature_validator'

/** The result of a tool is the only member of the object that the dialect requires. */
const resultText = (response: unknown): string => {
  const [only, ...more] = Object.values(response ?? {})
  return typeof only === 'string' && more.length === 0 ? only : JSON.stringify(response)
}

export const AGENT_MODELS: Readonly<Record<SseDialect, AgentModel>> = {
  'openai-chat': openaiChat,
  'openai-responses': agentResponses,
  anthropic,
  google,
}
