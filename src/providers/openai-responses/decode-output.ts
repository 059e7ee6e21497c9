/**
 * Decodes the output items of one answer, which may come as deltas, whole, or both. For each part it records how much of the text was
 * passed on, so that a later form of the part adds only what is missing: nothing is lost and nothing is repeated.
 */
import { builtInArguments, calledBuiltIn } from '../../canonical/built-in-tools.ts'
import { type ModelEvent, PARAGRAPH_BREAK } from '../../canonical/event.ts'
import { addedUsage, type Usage } from '../../canonical/usage.ts'
import { isObject, objectsIn, textOf } from '../../lib/json/json.ts'
import { callArguments } from '../tools/call-arguments.ts'
import { decodeUsage, type ToolWork } from './decode-usage.ts'
import { decodeAnnotation, decodeLogprobs, imageEvents, proofOf } from './decode-parts.ts'

export type Json = Record<string, unknown>

/** `summary` is the provider's summary of its thinking, `reasoning` the thinking itself. */
export type PieceKind = 'text' | 'refusal' | 'summary' | 'reasoning'

/** Each method returns the resulting events. `place` is the event or item that shows where the piece belongs. */
export interface Output {
  added(position: unknown, item: Json): ModelEvent[]
  /** Returns those events of a whole item that were not passed on yet. */
  done(position: unknown, item: Json): ModelEvent[]
  piece(place: Json, kind: PieceKind, text: string): ModelEvent[]
  annotation(place: Json, annotation: unknown): ModelEvent[]
  arguments(place: Json, json: string): ModelEvent[]
  wholeArguments(place: Json, json: string): ModelEvent[]
  /** Call it at the end of the answer: returns arguments that were held back in case a later event completed them. */
  close(): ModelEvent[]
  /** A picture that is not finished: the client has seen it, and may leave now. */
  partialPicture(place: Json): void
  callCount(): number
  toolWork(): ToolWork
  /** The same with the pictures that have been begun. */
  begunWork(): ToolWork
}

interface ItemState {
  /** The number of characters of each part that were passed on, by kind and position. */
  readonly reported: Map<string, number>
  /** The kinds of which something was passed on. */
  readonly said: Set<PieceKind>
  /** The place in the text of the answer at which the text of each part begins. */
  readonly starts: Map<number, number>
  /** The number of annotations of each part that were passed on. */
  readonly cited: Map<number, number>
  /**
   * For a tool call: our index of it, the arguments that came with its first event, and how many characters of arguments were passed on.
   */
  call: { readonly index: number; held: string; reported: number } | null
  /** Nothing more of the item may be passed on. */
  over: boolean
}

/** `runsCustomTools`: the provider takes no custom tools from clients, so every call of one is its own. */
export const createOutput = ({ runsCustomTools }: { readonly runsCustomTools: boolean }): Output => {
  const items = new Map<unknown, ItemState>()
  let calls = 0
  const searchItems = new Set<ItemState>()
  let fileSearches = 0
  /** Containers by their ids; those without one count as one. */
  const containers = new Set<unknown>()
  /** Pictures that have been begun, and those of which something came. */
  const begunPictures = new Set<ItemState>()
  const pictureItems = new Set<ItemState>()
  let authored: Usage | null = null
  const authors: string[] = []
  /** UTF-16 units of text so far, including paragraph breaks, and the item that the last of it belongs to. */
  let textLength = 0
  let textOwner: ItemState | null = null

  /** The type of an item, with calls of custom tools that the provider ran itself as searches. */
  const kindOf = (item: Json): string => {
    const type = textOf(item['type'])
    return isSearchOfX(item) || (runsCustomTools && type === 'custom_tool_call') ? 'x_search_call' : type
  }

  // Some upstreams give an item another id in every event, others leave out the index.
  const stateOf = (position: unknown, id: unknown): ItemState => {
    const key = typeof position === 'number' ? position : (id ?? position)
    const known = items.get(key)
    if (known !== undefined) return known
    const state: ItemState = { reported: new Map(), said: new Set(), starts: new Map(), cited: new Map(), call: null, over: false }
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
    // Summaries come in parts without a separator.
    const separated = kind === 'summary' && before === 0 && state.said.has('summary') ? `\n\n${text}` : text
    state.reported.set(key, before + text.length)
    if (text === '') return []
    state.said.add(kind)
    return kind === 'text' ? emitText(state, part, text) : [pieceEvent(kind, separated)]
  }

  /** The messages of one answer, such as a commentary and the final answer, are separate texts. */
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
      if (part['type'] !== 'output_text') return [{ type: 'unknown', kind: textOf(part['type']) || 'content' }]
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
    return proof === null && state.said.size === 0 ? events : [...events, { type: 'reasoning-end', proof }]
  }

  const foreign = (state: ItemState, kind: string): ModelEvent[] => {
    if (state.over || kind === '') return []
    state.over = true
    if (kind === 'web_search_call' || kind === 'x_search_call') searchItems.add(state)
    if (kind === 'file_search_call') fileSearches += 1
    return [{ type: 'unknown', kind }]
  }

  const workWith = (pictures: ReadonlySet<ItemState>): ToolWork => ({
    webSearches: searchItems.size,
    fileSearches,
    containers: containers.size,
    pictures: pictures.size,
    authored,
    authors,
  })

  return {
    added(position, item) {
      const type = kindOf(item)
      const state = stateOf(position, item['id'])
      if (type === 'image_generation_call') begunPictures.add(state)
      if (!isTranslated(type, item)) return foreign(state, type)
      if (!CALLS.has(type)) return []
      const events = openCall(state, item)
      if (state.call !== null) state.call.held = argumentsOf(item)
      return events
    },
    done(position, item) {
      const type = kindOf(item)
      const state = stateOf(position, item['id'])
      if (!isTranslated(type, item)) {
        const events = foreign(state, type)
        if (RUNS_CODE.has(type)) containers.add(containerOf(item))
        if (isPageAction(item['action'])) searchItems.delete(state)
        return events
      }
      if (state.over) return []
      state.over = true
      if (type === 'message') return message(state, item)
      if (type === 'reasoning') return reasoning(state, item)
      if (type === 'image_generation_call') {
        const drawn = imageEvents(item)
        const { svg_usage: written } = item
        if (isObject(written)) {
          // Its count of thinking stands beside the others.
          const usage = decodeUsage({ ...written, output_tokens_details: written })
          authored = authored === null ? usage : addedUsage(authored, usage)
          authors.push(textOf(written['model']))
        }
        for (const pictures of [begunPictures, pictureItems]) {
          if (drawn.length > 0) pictures.add(state)
          else pictures.delete(state)
        }
        // A picture that failed: clients of other interfaces are told that something is missing.
        return drawn.length > 0 ? drawn : [{ type: 'unknown', kind: type }]
      }
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
    // Arguments of a call that was not opened yet are ignored, since it has no name: its finished item holds all of them.
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
    partialPicture(place) {
      const state = stateAt(place)
      begunPictures.add(state)
      pictureItems.add(state)
    },
    callCount: () => calls,
    toolWork: () => workWith(pictureItems),
    begunWork: () => workWith(begunPictures),
  }
}

/** Items of tools that run in a container of the provider's; a shell that the client runs itself is translated. */
const RUNS_CODE: ReadonlySet<string> = new Set(['code_interpreter_call', 'shell_call'])

const containerOf = ({ container_id: id, environment }: Json): unknown =>
  id ?? (isObject(environment) ? environment['container_id'] : undefined) ?? null

/** A search call that opened a page or looked for words in one: OpenAI charges for searches alone (its guide "Web search", "Output"). */
const isPageAction = (action: unknown): boolean => isObject(action) && (action['type'] === 'open_page' || action['type'] === 'find_in_page')

/** Items that have a canonical form; `message` and the other non-call items come in pieces. */
const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call'])
const TRANSLATED: ReadonlySet<string> = new Set(['message', 'reasoning', 'image_generation_call', ...CALLS])

/** A shell that the provider runs itself leaves nothing for the client to do. */
const isTranslated = (type: string, item: Json): boolean => TRANSLATED.has(type) || calledBuiltIn(item) !== null

/** The arguments that a call gives its tool. */
const argumentsOf = (item: Json): string => {
  const builtIn = calledBuiltIn(item)
  return builtIn === null ? writtenArguments(item) : builtInArguments(builtIn, item)
}

const writtenArguments = (item: Json): string => callArguments(item[item['type'] === 'custom_tool_call' ? 'input' : 'arguments'])

/**
 * xAI shows the steps of its own search of X as calls of custom tools, although its server has run them already (docs.x.ai, "Tools",
 * "Overview"). A client that ran them again would answer a call that was not meant for it.
 */
const isSearchOfX = (item: Json): boolean =>
  item['type'] === 'custom_tool_call' && (textOf(item['call_id']).startsWith('xs_call_') || X_SEARCH.has(textOf(item['name'])))

const X_SEARCH: ReadonlySet<string> = new Set(['x_keyword_search', 'x_semantic_search', 'x_user_search', 'x_thread_fetch', 'view_x_video'])

const pieceEvent = (kind: PieceKind, text: string): ModelEvent => {
  if (kind === 'summary') return { type: 'reasoning', text, summary: true }
  return { type: kind, text }
}

const partAt = (index: unknown): number => (typeof index === 'number' ? index : 0)
