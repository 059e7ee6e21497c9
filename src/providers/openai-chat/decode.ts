/** Chat Completions as upstreams speak it, whole or in chunks, as events. Tolerant: only the fields that mean something are read. */
import type { FinishReason, ModelEvent } from '../../canonical/event.ts'
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json.ts'
import { nanosOf } from '../../lib/money.ts'

type Json = Record<string, unknown>

/** State that spans the chunks of one stream. */
export interface ChatDecoder {
  events(chunk: Json): ModelEvent[]
}

export const createChatDecoder = (): ChatDecoder => {
  let started = false
  // Upstream indices may be sparse, or all zero with ids that differ; ours are dense.
  const calls = new Map<number, { index: number; id: string }>()
  let callCount = 0

  const toolCall = (call: Json, position: number, events: ModelEvent[]): void => {
    const upstreamIndex = typeof call['index'] === 'number' ? call['index'] : position
    const about = isObject(call['function']) ? call['function'] : {}
    const id = textOf(call['id'])
    const open = calls.get(upstreamIndex)
    if (open === undefined || (id !== '' && id !== open.id && textOf(about['name']) !== '')) {
      const opened = { index: callCount, id }
      callCount += 1
      calls.set(upstreamIndex, opened)
      events.push({ type: 'tool-call', index: opened.index, id: id === '' ? `call_${opened.index}` : id, name: textOf(about['name']) })
    }
    const json = textOf(about['arguments'])
    if (json !== '') events.push({ type: 'tool-arguments', index: calls.get(upstreamIndex)?.index ?? 0, json })
  }

  return {
    events(chunk) {
      const events: ModelEvent[] = []
      const choice = firstChoice(chunk)
      // Azure sends a chunk of its filters first, which has neither a choice nor a name for the answer.
      if (!started && (choice !== undefined || textOf(chunk['id']) !== '')) {
        started = true
        events.push({ type: 'start', upstreamId: textOf(chunk['id']) || null, upstreamModel: textOf(chunk['model']) || null })
      }
      const said = isObject(choice?.['delta']) ? choice['delta'] : isObject(choice?.['message']) ? choice['message'] : null
      if (said !== null) {
        const reasoning = textOf(said['reasoning']) || textOf(said['reasoning_content'])
        if (reasoning !== '') events.push({ type: 'reasoning', text: reasoning })
        for (const piece of contentPieces(said['content'])) events.push(piece)
        const refusal = textOf(said['refusal'])
        if (refusal !== '') events.push({ type: 'refusal', text: refusal })
        if (Array.isArray(said['tool_calls'])) {
          for (const [position, call] of said['tool_calls'].entries()) if (isObject(call)) toolCall(call, position, events)
        }
      }
      const usage = usageObject(chunk)
      if (usage !== null) events.push({ type: 'usage', usage: decodeUsage(usage) })
      const finish = choice?.['finish_reason']
      // 'error' is no end of the model's; the failure is told by whoever reads the chunk.
      if (typeof finish === 'string' && finish !== '' && finish !== 'error')
        events.push({ type: 'finish', reason: finishReason(finish), native: finish })
      return events
    },
  }
}

/** A string, or parts of which some vendors make thinking a kind of its own. */
const contentPieces = (content: unknown): ModelEvent[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) return []
  return content.filter(isObject).flatMap((part): ModelEvent[] => {
    if (part['type'] === 'text') return [{ type: 'text', text: textOf(part['text']) }]
    if (part['type'] !== 'thinking') return []
    const thinking = part['thinking']
    const text = Array.isArray(thinking)
      ? thinking.map((piece) => (isObject(piece) ? textOf(piece['text']) : '')).join('')
      : textOf(thinking)
    return [{ type: 'reasoning', text }]
  })
}

const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  end_turn: 'stop',
  eos: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
}

const finishReason = (native: string): FinishReason => FINISH[native] ?? 'stop'

/** Usage stands beside the choices, inside a choice (Moonshot), or in a field of the vendor's own (Groq). */
const usageObject = (chunk: Json): Json | null => {
  if (isObject(chunk['usage'])) return chunk['usage']
  const groq = chunk['x_groq']
  if (isObject(groq) && isObject(groq['usage'])) return groq['usage']
  const inChoice = firstChoice(chunk)?.['usage']
  return isObject(inChoice) ? inChoice : null
}

/** The dialect's totals include what is cached and what is reasoning; ours are disjoint. Senseless counts are zero. */
export const decodeUsage = (usage: Json): Usage => {
  const prompt = isObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {}
  const completion = isObject(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {}
  const input = count(usage['prompt_tokens'])
  const cacheRead = Math.min(input, count(prompt['cached_tokens']) || count(usage['prompt_cache_hit_tokens']))
  const cacheWrite = Math.min(input - cacheRead, count(prompt['cache_write_tokens']))
  const output = count(usage['completion_tokens'])
  const reasoning = Math.min(output, count(completion['reasoning_tokens']))
  const cost = usage['cost']
  return usageOf({
    inputFresh: input - cacheRead - cacheWrite,
    inputCacheRead: cacheRead,
    inputCacheWrite5m: cacheWrite,
    output: output - reasoning,
    outputReasoning: reasoning,
    inputAudio: count(prompt['audio_tokens']),
    outputAudio: count(completion['audio_tokens']),
    outputImage: count(completion['image_tokens']),
    reportedCostNanos: typeof cost === 'number' && cost >= 0 && Number.isFinite(cost) ? nanosOf(cost) : null,
  })
}

/** More than any model can use in one answer is a fault of the sender, not a bill. */
const TOKENS_MAX = 1_000_000_000

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : 0

const firstChoice = (chunk: Json): Json | undefined => {
  const choices = chunk['choices']
  return Array.isArray(choices) ? choices.find((choice): choice is Json => isObject(choice) && (choice['index'] ?? 0) === 0) : undefined
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
