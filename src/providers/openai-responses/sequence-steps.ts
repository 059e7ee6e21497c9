/** The events of a Responses stream that show an item bit by bit: the steps of its parts, and those of the arguments of a call. */
import { isObject, textOf } from '../../lib/json/json.ts'
import type { Json } from './decode-output.ts'

export interface PartKind {
  readonly itemType: 'message' | 'reasoning'
  /** The member of the item that lists such parts, and the member of an event that says which of them it belongs to. */
  readonly list: 'content' | 'summary'
  readonly index: 'content_index' | 'summary_index'
  /** The names of the events that begin and end the part, and of those that carry its text. */
  readonly holder: 'content_part' | 'reasoning_summary_part'
  readonly events: string
  /** The member that holds the text, in the part and in the event that ends the text. */
  readonly member: 'text' | 'refusal'
  part(text: string, sources?: readonly unknown[]): Json
}

const CONTENT = { list: 'content', index: 'content_index', holder: 'content_part' } as const

/** By the type of the part. */
export const PARTS: Readonly<Record<string, PartKind>> = {
  output_text: {
    ...CONTENT,
    itemType: 'message',
    events: 'output_text',
    member: 'text',
    part: (text, annotations = []) => ({ type: 'output_text', text, annotations, logprobs: [] }),
  },
  refusal: { ...CONTENT, itemType: 'message', events: 'refusal', member: 'refusal', part: (refusal) => ({ type: 'refusal', refusal }) },
  reasoning_text: {
    ...CONTENT,
    itemType: 'reasoning',
    events: 'reasoning_text',
    member: 'text',
    part: (text) => ({ type: 'reasoning_text', text }),
  },
  summary_text: {
    itemType: 'reasoning',
    list: 'summary',
    index: 'summary_index',
    holder: 'reasoning_summary_part',
    events: 'reasoning_summary_text',
    member: 'text',
    part: (text) => ({ type: 'summary_text', text }),
  },
}

interface CallKind {
  readonly events: string
  readonly member: 'arguments' | 'input'
  /** The event that ends the arguments repeats the name of the function. */
  readonly named: boolean
}

/** By the type of the item. */
export const CALLS: Readonly<Record<string, CallKind>> = {
  function_call: { events: 'function_call_arguments', member: 'arguments', named: true },
  custom_tool_call: { events: 'custom_tool_call_input', member: 'input', named: false },
}

interface PartStep {
  readonly of: 'part'
  /** Null if the event holds the part, whose type says it. */
  readonly kind: PartKind | null
  readonly stage: 'added' | 'delta' | 'source' | 'said' | 'done'
}

interface CallStep extends CallKind {
  readonly of: 'call'
  readonly itemType: string
  readonly stage: 'delta' | 'said'
}

export const STEPS: ReadonlyMap<string, PartStep | CallStep> = new Map<string, PartStep | CallStep>([
  ...Object.values(PARTS).flatMap((kind): [string, PartStep][] => [
    [`response.${kind.events}.delta`, { of: 'part', kind, stage: 'delta' }],
    [`response.${kind.events}.done`, { of: 'part', kind, stage: 'said' }],
    [`response.${kind.holder}.added`, { of: 'part', kind: null, stage: 'added' }],
    [`response.${kind.holder}.done`, { of: 'part', kind: null, stage: 'done' }],
  ]),
  ['response.output_text.annotation.added', { of: 'part', kind: PARTS['output_text'] ?? null, stage: 'source' }],
  ...Object.entries(CALLS).flatMap(([itemType, call]): [string, CallStep][] => [
    [`response.${call.events}.delta`, { of: 'call', itemType, ...call, stage: 'delta' }],
    [`response.${call.events}.done`, { of: 'call', itemType, ...call, stage: 'said' }],
  ]),
])

/** Null for a part of a type that is not known. */
export const kindOf = ({ kind }: PartStep, { part }: Json): PartKind | null =>
  kind ?? (isObject(part) ? PARTS[textOf(part['type'])] : undefined) ?? null

/** An item as it begins: without its texts. */
export const emptied = (item: Json): Json => {
  const type = textOf(item['type'])
  const call = CALLS[type]
  const begun = { ...item, status: 'in_progress' }
  if (call !== undefined) return { ...begun, [call.member]: '' }
  if (type === 'message') return { ...begun, role: 'assistant', content: [] }
  return type === 'reasoning' ? { ...begun, summary: [], ...('content' in item ? { content: [] } : {}) } : begun
}
