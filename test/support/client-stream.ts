/**
 * The rules that each of our streams must follow, whatever its contents: framing and lifecycle (docs/contract/streams.md#framing). The
 * functions return lists of faults.
 */
import type { ClientDialect } from '../../src/canonical/call.ts'
import { SseDecoder } from '../../src/lib/network/sse.ts'

export interface StreamEvent {
  readonly name: string | null
  readonly data: unknown
}

/** The parsed events before `[DONE]`. */
export const streamEvents = (text: string): StreamEvent[] =>
  new SseDecoder()
    .push(new TextEncoder().encode(text))
    .filter(({ data }) => data !== '[DONE]')
    .map(({ event, data }) => ({ name: event, data: JSON.parse(data) as unknown }))

export type StreamEnd = 'normal' | 'error'

/** How a well-formed stream ended, or the list of its faults. */
export const readStream = (client: ClientDialect, text: string): { readonly end: StreamEnd | null; readonly faults: readonly string[] } => {
  const faults = framingFaults(client, text)
  if (faults.length > 0) return { end: null, faults }
  const events = streamEvents(text)
  const end = LIFECYCLES[client](events, faults)
  return { end, faults }
}

/** `s` lets `.` match characters that end a line in JavaScript but not in an event stream. */
const LINE = /^(?:data: \S.*|event: [\w.]+|: .*|)$/s

const framingFaults = (client: ClientDialect, text: string): string[] => {
  const faults: string[] = []
  if (text.includes('\r')) faults.push('a CR')
  if (!text.endsWith('data: [DONE]\n\n')) faults.push(`does not end with [DONE] but with ${JSON.stringify(text.slice(-60))}`)
  if (text.split('data: [DONE]').length > 2) faults.push('[DONE] twice')
  for (const frame of text.slice(0, -2).split('\n\n')) {
    const lines = frame.split('\n')
    for (const line of lines) if (!LINE.test(line)) faults.push(`line ${JSON.stringify(line.slice(0, 80))}`)
    const named = lines.some((line) => line.startsWith('event: '))
    if (lines.filter((line) => line.startsWith('data: ')).length > 1) faults.push('two lines of data in one event')
    if (frame !== 'data: [DONE]' && !frame.startsWith(':') && named !== (client !== 'chat'))
      faults.push(`event name: ${frame.slice(0, 60)}`)
  }
  return faults
}

type Lifecycle = (events: readonly StreamEvent[], faults: string[]) => StreamEnd | null

/** The members of a chunk that are checked, if present. */
interface Chunk {
  readonly id?: unknown
  readonly object?: unknown
  readonly created?: unknown
  readonly model?: unknown
  readonly provider?: unknown
  readonly system_fingerprint?: unknown
  readonly usage?: unknown
  readonly choices?: readonly {
    readonly index?: number
    readonly finish_reason?: string | null
    readonly delta?: {
      readonly content?: unknown
      readonly tool_calls?: readonly {
        readonly index: number
        readonly id?: unknown
        readonly type?: unknown
        readonly function?: { readonly name?: string }
        readonly custom?: { readonly name?: string }
      }[]
    }
  }[]
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly metadata?: { readonly error_type?: unknown } }
}

const chat: Lifecycle = (reported, faults) => {
  const events = reported.map(({ data }) => ({ data: data as Chunk }))
  let end: StreamEnd | null = null
  let usages = 0
  let calls = 0
  const finished = new Set<number>()
  const envelope = (chunk: Chunk): string => [chunk.id, chunk.object, chunk.created, chunk.model, chunk.provider].join('|')
  const ours = events[0] === undefined ? '' : envelope(events[0].data)
  for (const [position, { data: chunk }] of events.entries()) {
    const at = `chunk ${position}: `
    if (end === 'error') faults.push(`${at}after the error`)
    if (envelope(chunk) !== ours) faults.push(`${at}another envelope: ${envelope(chunk)} after ${ours}`)
    if (chunk.object !== 'chat.completion.chunk' || !Number.isInteger(chunk.created)) faults.push(`${at}object or created`)
    if (!Array.isArray(chunk.choices)) faults.push(`${at}no choices`)
    if ('system_fingerprint' in chunk && typeof chunk.system_fingerprint !== 'string') faults.push(`${at}system_fingerprint`)
    if (chunk.usage !== undefined && (usages += 1) > 1) faults.push(`${at}usage twice`)
    if (chunk.error !== undefined) {
      end = 'error'
      const [choice, ...others] = chunk.choices ?? []
      if (!Number.isInteger(chunk.error.code) || typeof chunk.error.message !== 'string') faults.push(`${at}error without code or message`)
      if (typeof chunk.error.metadata?.error_type !== 'string') faults.push(`${at}error without error_type`)
      if (others.length > 0 || choice?.finish_reason !== 'error' || choice.delta?.content !== '') faults.push(`${at}choice of the error`)
      continue
    }
    for (const choice of chunk.choices ?? []) {
      const { index = -1 } = choice
      if (!Number.isInteger(index) || index < 0 || typeof choice.delta !== 'object') faults.push(`${at}index or delta`)
      if (choice.finish_reason === undefined) faults.push(`${at}no finish_reason key`)
      if (finished.has(index) && choice.finish_reason !== null) faults.push(`${at}finish_reason twice`)
      if (choice.finish_reason !== null) finished.add(index)
      for (const call of choice.delta?.tool_calls ?? []) {
        if (call.index === calls) {
          calls += 1
          if (typeof call.id !== 'string' || call.id === '' || !(call.type === 'custom' ? call.custom : call.function)?.name)
            faults.push(`${at}call opened without id, type or name`)
        } else if (call.index > calls) faults.push(`${at}call ${call.index} after ${calls - 1}`)
        else if (call.function?.name) faults.push(`${at}name of call ${call.index} twice`)
      }
    }
  }
  if (end === 'error') return end
  if (!finished.has(0)) faults.push('no finish_reason')
  const last = events.at(-1)?.data
  if (usages !== 1 || last?.usage === undefined || last.choices?.length !== 0) faults.push('the last chunk is not that of the usage')
  return 'normal'
}

const BLOCK_DELTAS: Readonly<Record<string, readonly string[]>> = {
  image: [],
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
  web_search_tool_result: [],
  advisor_tool_result: [],
  web_fetch_tool_result: [],
  service_tool_result: [],
  service_shell_tool_result: [],
  service_bash_tool_result: [],
  tool_search_tool_result: [],
}

/** The members of an event that are checked, if present. */
interface MessageEvent {
  readonly type?: string
  readonly index?: number
  readonly message?: {
    readonly usage?: { readonly input_tokens?: number; readonly cache_read_input_tokens?: number | null }
    readonly content?: readonly unknown[]
    readonly stop_reason?: unknown
  }
  readonly content_block?: { readonly type?: string }
  readonly delta?: { readonly type?: string; readonly stop_reason?: unknown }
  readonly usage?: { readonly output_tokens?: unknown }
  readonly error?: { readonly type?: unknown; readonly message?: unknown; readonly error_type?: unknown }
}

const messages: Lifecycle = (reported, faults) => {
  const events = reported.map(({ name, data }) => ({ name, data: data as MessageEvent }))
  let end: StreamEnd | null = null
  let started = false
  let stopReason: unknown
  let blocks = 0
  let open: { readonly index: number; readonly type: string } | null = null
  for (const [position, { name, data }] of events.entries()) {
    const at = `event ${position}: `
    if (name !== data.type) faults.push(`${at}named ${name}, typed ${data.type}`)
    if (end !== null) faults.push(`${at}after the end`)
    switch (data.type ?? '') {
      case 'message_start':
        if (started || position !== 0) faults.push(`${at}message_start not once, first`)
        started = true
        if (!((data.message?.usage?.input_tokens ?? Number.NaN) + (data.message?.usage?.cache_read_input_tokens ?? 0) > 0))
          faults.push(`${at}no input tokens at the start`)
        if (data.message?.content?.length !== 0 || data.message.stop_reason !== null) faults.push(`${at}message_start says too much`)
        break
      case 'content_block_start':
        if (open !== null) faults.push(`${at}block opened in an open block`)
        if (data.index !== blocks) faults.push(`${at}block ${data.index}, not ${blocks}`)
        if (BLOCK_DELTAS[data.content_block?.type ?? ''] === undefined) faults.push(`${at}a block of type ${data.content_block?.type}`)
        blocks += 1
        open = { index: data.index ?? -1, type: data.content_block?.type ?? '' }
        break
      case 'content_block_delta':
        if (open?.index !== data.index) faults.push(`${at}delta of block ${data.index}, which is not open`)
        else if (!BLOCK_DELTAS[open?.type ?? '']?.includes(data.delta?.type ?? ''))
          faults.push(`${at}${data.delta?.type} in a ${open?.type} block`)
        break
      case 'content_block_stop':
        if (open?.index !== data.index) faults.push(`${at}stop of block ${data.index}, which is not open`)
        open = null
        break
      case 'message_delta':
        if (open !== null) faults.push(`${at}message_delta in an open block`)
        stopReason = data.delta?.stop_reason ?? stopReason
        if (typeof data.usage?.output_tokens !== 'number') faults.push(`${at}no usage`)
        break
      case 'message_stop':
        if (typeof stopReason !== 'string') faults.push(`${at}no stop_reason before it`)
        end = 'normal'
        break
      case 'error':
        end = 'error'
        if (typeof data.error?.type !== 'string' || typeof data.error.message !== 'string' || typeof data.error.error_type !== 'string')
          faults.push(`${at}error without type, message or error_type`)
        break
      case 'ping':
        break
      default:
        faults.push(`${at}a name that the dialect does not have: ${data.type}`)
    }
  }
  if (!started && end !== 'error') faults.push('no message_start')
  if (end === null) faults.push('no terminal event')
  return end
}

interface Item {
  readonly id?: unknown
  readonly type?: string
  readonly content?: unknown
}

interface ResponseEvent {
  readonly [text: string]: unknown
  readonly type?: string
  readonly sequence_number?: number
  readonly output_index?: number
  readonly content_index?: number
  readonly summary_index?: number
  readonly item_id?: string
  readonly delta?: string
  readonly arguments?: string
  readonly item?: Item
  readonly part?: { readonly text?: string; readonly refusal?: string }
  readonly response?: {
    readonly status?: string
    readonly output?: readonly unknown[]
    readonly usage?: unknown
    readonly error?: { readonly code?: unknown; readonly message?: unknown } | null
    readonly error_type?: unknown
  }
}

/** The parts of an open item, each with the text that its pieces must add up to. */
interface OpenItem {
  readonly item: Item
  readonly parts: Map<string, { text: string; done: boolean }>
  arguments: string
  argumentsDone: boolean
}

const PIECES: Readonly<Record<string, { readonly kind: string; readonly whole: string | null }>> = {
  'response.output_text.delta': { kind: 'content', whole: null },
  'response.output_text.done': { kind: 'content', whole: 'text' },
  'response.refusal.delta': { kind: 'content', whole: null },
  'response.refusal.done': { kind: 'content', whole: 'refusal' },
  'response.reasoning_text.delta': { kind: 'content', whole: null },
  'response.reasoning_text.done': { kind: 'content', whole: 'text' },
  'response.reasoning_summary_text.delta': { kind: 'summary', whole: null },
  'response.reasoning_summary_text.done': { kind: 'summary', whole: 'text' },
}

const responses: Lifecycle = (reported, faults) => {
  const events = reported.map(({ name, data }) => ({ name, data: data as ResponseEvent }))
  let end: StreamEnd | null = null
  const items = new Map<number, OpenItem>()
  const done: unknown[] = []
  const numbered = events[0]?.data.sequence_number !== undefined
  for (const [position, { name, data }] of events.entries()) {
    const { type = '', output_index: index = -1, item = {}, response = {} } = data
    const at = `event ${position} (${type}): `
    if (name !== data.type) faults.push(`${at}named ${name}`)
    if (numbered && data.sequence_number !== position) faults.push(`${at}sequence_number ${data.sequence_number}`)
    if (end !== null) faults.push(`${at}after the end`)
    const open = items.get(index)
    const partKey = `${PIECES[type]?.kind ?? (type.includes('summary') ? 'summary' : 'content')} ${data.content_index ?? data.summary_index}`
    const part = open?.parts.get(partKey)
    const piece = PIECES[type]
    if (position < 2 && data.type !== ['response.created', 'response.in_progress'][position]) {
      if (data.type !== 'response.failed') faults.push(`${at}where the response begins`)
    }
    if (data.item_id !== undefined && open?.item.id !== data.item_id) faults.push(`${at}of item ${data.item_id}, which is not open`)
    if (piece !== undefined) {
      if (part === undefined) faults.push(`${at}in a part that was not added`)
      else if (piece.whole === null) part.text += data.delta
      else if (data[piece.whole] !== part.text) faults.push(`${at}${JSON.stringify(data[piece.whole])}, not ${JSON.stringify(part.text)}`)
      continue
    }
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        if (response.status !== 'in_progress' || response.output?.length !== 0) faults.push(`${at}status or output`)
        break
      case 'response.output_item.added':
        if (index !== items.size) faults.push(`${at}item ${data.output_index}, not ${items.size}`)
        if (item.type === 'message' && !Array.isArray(item.content)) faults.push(`${at}no content array`)
        items.set(index, {
          item,
          parts: new Map(),
          arguments: '',
          argumentsDone: item.type !== 'function_call',
        })
        // A subagent that waits for the client is announced in this answer, and ends in a later one.
        if (item.type?.endsWith(':subagent') === true) done[index] = item
        break
      case 'response.content_part.added':
      case 'response.reasoning_summary_part.added':
        if (part !== undefined) faults.push(`${at}part added twice`)
        open?.parts.set(partKey, { text: '', done: false })
        break
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.done': {
        const said = data.part?.text ?? data.part?.refusal
        if (part === undefined || said !== part.text) faults.push(`${at}${JSON.stringify(said)}, not ${JSON.stringify(part?.text)}`)
        if (part !== undefined) part.done = true
        break
      }
      case 'response.function_call_arguments.delta':
        if (open !== undefined) open.arguments += data.delta
        break
      case 'response.function_call_arguments.done':
        if (open === undefined || data.arguments !== open.arguments) faults.push(`${at}${data.arguments}, not ${open?.arguments}`)
        if (open !== undefined) open.argumentsDone = true
        break
      case 'response.output_item.done':
        if (open === undefined || item.id !== open.item.id) faults.push(`${at}of an item that is not open`)
        else if (!open.argumentsDone || [...open.parts.values()].some((each) => !each.done))
          faults.push(`${at}of an item whose parts are open`)
        done[index] = item
        break
      case 'response.completed':
      case 'response.incomplete':
        end = 'normal'
        if (response.usage === null || response.usage === undefined) faults.push(`${at}no usage`)
        if (response.status !== type.slice('response.'.length)) faults.push(`${at}status ${response.status}`)
        if (items.size > 0 && JSON.stringify(response.output) !== JSON.stringify(done))
          faults.push(`${at}output differs from the items done`)
        break
      case 'response.failed':
        end = 'error'
        if (response.status !== 'failed' || typeof response.error?.code !== 'string' || typeof response.error.message !== 'string')
          faults.push(`${at}status or error`)
        if (typeof response.error_type !== 'string') faults.push(`${at}no error_type`)
        if (!Array.isArray(response.output)) faults.push(`${at}no output`)
        break
      case 'response.output_text.annotation.added':
      case 'response.custom_tool_call_input.delta':
      case 'response.custom_tool_call_input.done':
      case 'response.image_generation_call.in_progress':
      case 'response.image_generation_call.generating':
      case 'response.image_generation_call.completed':
        break
      default:
        faults.push(`${at}a name that is not expected`)
    }
  }
  if (end === null) faults.push('no terminal event')
  return end
}

const LIFECYCLES: Readonly<Record<ClientDialect, Lifecycle>> = { chat, responses, messages }
