/**
 * The output items of one answer, which may come as deltas, whole, or both. For each part it is remembered how much of
 * its text was passed on, so that any form that comes later adds only what is missing: nothing is lost, nothing repeated.
 */
import { builtInArguments, calledBuiltIn } from '../../canonical/built-in-tools.ts'
import { type ModelEvent, PARAGRAPH_BREAK } from '../../canonical/event.ts'
import { isObject, objectsIn, textOf } from '../../lib/json.ts'
import { callArguments } from '../call-arguments.ts'
import { decodeAnnotation, decodeLogprobs, imageEvents, proofOf } from './decode-parts.ts'

export type Json = Record<string, unknown>

/** `summary` is the provider's account of thinking, `reasoning` the thinking itself. */
export type PieceKind = 'text' | 'refusal' | 'summary' | 'reasoning'

/** Each method answers with the events that follow. `place` is the event or item that says where it belongs. */
export interface Output {
  added(position: unknown, item: Json): ModelEvent[]
  /** Returns the events of a whole item that were not passed on yet. */
  done(position: unknown, item: Json): ModelEvent[]
  piece(place: Json, kind: PieceKind, text: string): ModelEvent[]
  annotation(place: Json, annotation: unknown): ModelEvent[]
  arguments(place: Json, json: string): ModelEvent[]
  wholeArguments(place: Json, json: string): ModelEvent[]
  /** The answer is over: what was held back for a better word. */
  close(): ModelEvent[]
  hasItems(): boolean
  /** An item was begun there and is not done. */
  isOpen(position: number): boolean
  callCount(): number
  webSearches(): number
}

interface ItemState {
  /** Characters of each part that have gone out, by kind and position. */
  readonly reported: Map<string, number>
  /** Where the text of each part begins in that of the answer. */
  readonly starts: Map<number, number>
  /** Annotations of each part that have gone out. */
  readonly cited: Map<number, number>
  /** A tool call: our index of it, its arguments as they were given at first, and how much of them was passed on. */
  call: { readonly index: number; held: string; reported: number } | null
  /** Nothing more of it is to be passed on. */
  over: boolean
}

/** `runsCustomTools`: the provider takes none from clients, so that each call of one is its own. */
export const createOutput = ({ runsCustomTools }: { readonly runsCustomTools: boolean }): Output => {
  const items = new Map<unknown, ItemState>()
  let calls = 0
  let searches = 0
  /** UTF-16 units of text so far, breaks counted, and the item that said the last of it. */
  let textLength = 0
  let textOwner: ItemState | null = null

  /** The type of an item, by what it is. */
  const kindOf = (item: Json): string => {
    const type = textOf(item['type'])
    return isSearchOfX(item) || (runsCustomTools && type === 'custom_tool_call') ? 'x_search_call' : type
  }

  // Some upstreams give an item another id in every event, others leave the index out.
  const stateOf = (position: unknown, id: unknown): ItemState => {
    const key = typeof position === 'number' ? position : (id ?? position)
    const known = items.get(key)
    if (known !== undefined) return known
    const state: ItemState = { reported: new Map(), starts: new Map(), cited: new Map(), call: null, over: false }
    items.set(key, state)
    return state
  }
  const stateAt = (place: Json): ItemState => stateOf(place['output_index'], place['item_id'])

  const openCall = (state: ItemState, item: Json): ModelEvent[] => {
    if (state.call !== null) return []
    const index = calls
    calls += 1
    state.call = { index, held: '', reported: 0 }
    const id = textOf(item['call_id']) || textOf(item['id']) || `call_${index}`
    const custom = item['type'] === 'custom_tool_call' ? { custom: true as const } : {}
    const builtIn = calledBuiltIn(item)
    if (builtIn !== null) return [{ type: 'tool-call', index, id, name: builtIn, builtIn }]
    return [{ type: 'tool-call', index, id, name: textOf(item['name']), ...custom }]
  }

  const emitArguments = ({ call }: ItemState, json: string): ModelEvent[] => {
    if (call === null || json === '') return []
    call.reported += json.length
    return [{ type: 'tool-arguments', index: call.index, json }]
  }

  const emitPiece = (state: ItemState, kind: PieceKind, part: number, text: string): ModelEvent[] => {
    const key = `${kind} ${part}`
    const before = state.reported.get(key) ?? 0
    // Summaries come in parts without anything between them.
    const separated = kind === 'summary' && before === 0 && reportedAny(state, 'summary ') ? `\n\n${text}` : text
    state.reported.set(key, before + text.length)
    if (text === '') return []
    return kind === 'text' ? emitText(state, part, text) : [pieceEvent(kind, separated)]
  }

  /** Messages of one answer, such as a comment and the final word, are texts of their own. */
  const emitText = (state: ItemState, part: number, text: string): ModelEvent[] => {
    const broken = textOwner?.over === true && textOwner !== state
    if (broken) textLength += PARAGRAPH_BREAK.length
    textOwner = state
    if (!state.starts.has(part)) state.starts.set(part, textLength)
    textLength += text.length
    return [...(broken ? [{ type: 'text-break' } as const] : []), { type: 'text', text }]
  }

  const emitRest = (state: ItemState, kind: PieceKind, part: number, whole: string): ModelEvent[] =>
    emitPiece(state, kind, part, whole.slice(state.reported.get(`${kind} ${part}`) ?? 0))

  const message = (state: ItemState, item: Json): ModelEvent[] =>
    objectsIn(item['content']).flatMap((part, position) => {
      if (part['type'] === 'refusal') return emitRest(state, 'refusal', position, textOf(part['refusal']))
      if (part['type'] !== 'output_text') return []
      const unreported = !state.reported.has(`text ${position}`)
      const events = emitRest(state, 'text', position, textOf(part['text']))
      const annotations = objectsIn(part['annotations']).slice(state.cited.get(position) ?? 0)
      return [
        ...events,
        ...(unreported ? decodeLogprobs(part['logprobs']) : []),
        ...annotations.flatMap((reported) => decodeAnnotation(reported, state.starts.get(position) ?? 0)),
      ]
    })

  const reasoning = (state: ItemState, item: Json): ModelEvent[] => {
    const events = [
      ...objectsIn(item['summary']).flatMap((part, position) => emitRest(state, 'summary', position, textOf(part['text']))),
      ...objectsIn(item['content']).flatMap((part, position) => emitRest(state, 'reasoning', position, textOf(part['text']))),
    ]
    const proof = proofOf(item)
    return proof === null && !reportedAny(state) ? events : [...events, { type: 'reasoning-end', proof }]
  }

  const foreign = (state: ItemState, kind: string): ModelEvent[] => {
    if (state.over || kind === '') return []
    state.over = true
    if (kind === 'web_search_call') searches += 1
    return [{ type: 'unknown', kind }]
  }

  return {
    added(position, item) {
      const type = kindOf(item)
      const state = stateOf(position, item['id'])
      if (!isTranslated(type, item)) return foreign(state, type)
      if (!CALLS.has(type)) return []
      const events = openCall(state, item)
      if (state.call !== null) state.call.held = argumentsOf(item)
      return events
    },
    done(position, item) {
      const type = kindOf(item)
      const state = stateOf(position, item['id'])
      if (!isTranslated(type, item)) return foreign(state, type)
      if (state.over) return []
      state.over = true
      if (type === 'message') return message(state, item)
      if (type === 'reasoning') return reasoning(state, item)
      if (type === 'image_generation_call') return imageEvents(item)
      const opened = openCall(state, item)
      const whole = argumentsOf(item) || (state.call?.held ?? '')
      return [...opened, ...emitArguments(state, whole.slice(state.call?.reported ?? 0))]
    },
    piece(place, kind, text) {
      const part = partAt(place[kind === 'summary' ? 'summary_index' : 'content_index'])
      return [...emitPiece(stateAt(place), kind, part, text), ...decodeLogprobs(place['logprobs'])]
    },
    annotation(place, annotation) {
      const { cited, starts } = stateAt(place)
      const part = partAt(place['content_index'])
      cited.set(part, (cited.get(part) ?? 0) + 1)
      return isObject(annotation) ? decodeAnnotation(annotation, starts.get(part) ?? textLength) : []
    },
    // A call that was not opened yet has no name: its item holds all of it when it is done.
    arguments: (place, json) => emitArguments(stateAt(place), json),
    wholeArguments(place, json) {
      const state = stateAt(place)
      return emitArguments(state, json.slice(state.call?.reported ?? 0))
    },
    close: () =>
      [...items.values()].flatMap((state) => {
        const { call, over } = state
        if (over || call === null) return []
        state.over = true
        return emitArguments(state, call.held.slice(call.reported))
      }),
    hasItems: () => items.size > 0,
    isOpen: (position) => items.get(position)?.over === false,
    callCount: () => calls,
    webSearches: () => searches,
  }
}

/** Items that have a word in the middle; `message` and the rest of them come in pieces. */
const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call'])
const TRANSLATED: ReadonlySet<string> = new Set(['message', 'reasoning', 'image_generation_call', ...CALLS])

/** A shell that the provider runs itself has nothing for the client to do. */
const isTranslated = (type: string, item: Json): boolean => TRANSLATED.has(type) || calledBuiltIn(item) !== null

/** The arguments that a call gives its tool. */
const argumentsOf = (item: Json): string => {
  const builtIn = calledBuiltIn(item)
  return builtIn === null ? writtenArguments(item) : builtInArguments(builtIn, item)
}

const writtenArguments = (item: Json): string => callArguments(item[item['type'] === 'custom_tool_call' ? 'input' : 'arguments'])

/**
 * xAI shows the steps of its own search of X as calls of custom tools, though its server has run them (docs.x.ai, "Tools",
 * "Overview"). A client that ran them again would answer a call that was not made to it.
 */
const isSearchOfX = (item: Json): boolean =>
  item['type'] === 'custom_tool_call' && (textOf(item['call_id']).startsWith('xs_call_') || X_SEARCH.has(textOf(item['name'])))

const X_SEARCH: ReadonlySet<string> = new Set(['x_keyword_search', 'x_semantic_search', 'x_user_search', 'x_thread_fetch', 'view_x_video'])

const pieceEvent = (kind: PieceKind, text: string): ModelEvent => {
  if (kind === 'summary') return { type: 'reasoning', text, summary: true }
  return { type: kind, text }
}

const reportedAny = ({ reported }: ItemState, prefix = ''): boolean =>
  [...reported].some(([key, length]) => length > 0 && key.startsWith(prefix))

const partAt = (index: unknown): number => (typeof index === 'number' ? index : 0)
