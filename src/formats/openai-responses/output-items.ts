/**
 * Builds the output items of one response block by block, and emits a stream's events for each step
 * (docs/contract/responses.md#stream).
 */
import { type BuiltInTool, builtInCall } from '../../canonical/built-in-tools.ts'
import type { UrlCitation, MessagePhase } from '../../canonical/prompt.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import { sealProof, UNSIGNED } from '../../canonical/reasoning.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { ServerCall, ServerOutcome, ToolProgress } from '../../canonical/server-tools.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { SEALED_THINKING } from '../../request-fields/schemas/output.ts'
import { dialectId } from '../answer-parts.ts'
import type { Block, BlockSink } from '../block-sequence.ts'
import type { AnswerHead } from '../format.ts'
import { urlCitation } from '../url-citation.ts'
import {
  builtInItem,
  callItem,
  customCallItem,
  encryptedContent,
  imageItem,
  logprob,
  messageItem,
  part,
  reasoningItem,
  requiredItemId,
} from './items.ts'
import { type AskedContents, toolItems } from './server-tool-items.ts'
import { PROGRESS_BEGUN, progressEnd, progressEvent } from './tool-progress.ts'
import type { ItemCall, ItemStatus, PartType } from './items.ts'

/** Takes one event: its type, and its members as JSON text without braces. */
export type Emit = (type: string, members: string) => void

/** Clients of this dialect send back `encrypted_content` and may drop the readable thinking, so a signature carries its text with it. */
const vouchedFor = (proof: ReasoningProof, text: string): ReasoningProof => (proof.kind === 'signature' ? { ...proof, text } : proof)

interface ProseItem {
  readonly type: 'message' | 'reasoning'
  readonly id: string
  /** JSON texts of the finished parts; for thinking, summaries are kept separately. */
  readonly content: readonly string[]
  readonly summary: readonly string[]
  readonly encrypted: string | null
}

type OpenItem =
  | ProseItem
  | { readonly type: 'call' | 'custom-call'; readonly id: string; readonly call: ItemCall }
  /** Emitted only when complete, because its members come from the model's arguments. */
  | { readonly type: 'built-in-call'; readonly builtIn: BuiltInTool; readonly call: ItemCall }
  | { readonly type: 'image'; readonly id: string; readonly url: string }

/** An item that is emitted from its beginning on. */
type ReportedItem = Exclude<OpenItem, { readonly type: 'built-in-call' }>

/**
 * One item is open at a time. A message takes text and refusals as parts, thinking takes its summary and its text, as long as
 * nothing else comes between; an item is closed by any other block, by the proof of its thinking, or by `closeLast`.
 */
export class OutputItems implements BlockSink {
  readonly #head: AnswerHead
  readonly #emit: Emit
  readonly #done: string[] = []
  /** The indices of the items of service tools that are running, by call id. */
  readonly #running = new Map<string, number>()
  readonly #asked: AskedContents
  readonly #summarises: boolean
  /** Clients that ask for `encrypted_content` send no call back whose thinking came without it (decisions/0008). */
  readonly #marksUnsigned: boolean
  #ranTools = false
  #item: OpenItem | null = null
  /** The kind of the open block within its item; null for a block that is the item. */
  #part: PartType | null = null
  /** The members that locate the open block, and the type of its deltas. */
  #place = ''
  #deltaType = ''
  /** The text of the open block, and its JSON text without quotes, which several events repeat. */
  #text = ''
  #json = ''
  /** The start of the open text within the text of the answer. */
  #textStart = 0
  #annotations: string[] = []
  #logprobs: string[] = []
  #closingStatus: ItemStatus = 'completed'
  /** The characters of the open item that count as kept already. */
  #keptOfItem = 0

  constructor(head: AnswerHead, emit: Emit) {
    this.#head = head
    this.#emit = emit
    const include = head.request.value('include')
    this.#asked = new Set(
      Array.isArray(include) ? include.flatMap((name) => (typeof name === 'string' ? (serverToolName(name) ?? []) : [])) : [],
    )
    this.#summarises = asksForSummary(head.request)
    this.#marksUnsigned = Array.isArray(include) && include.includes(SEALED_THINKING)
  }

  /** JSON texts of the finished items, and of tools that are still running. */
  get done(): readonly string[] {
    return this.#done
  }

  /** Marks all items that close from now on as incomplete. */
  cutShort(): void {
    this.#closingStatus = 'incomplete'
  }

  open(block: Block): void {
    this.#text = ''
    this.#json = ''
    this.#annotations = []
    this.#logprobs = []
    switch (block.type) {
      case 'text':
        this.#textStart = block.start
        this.#openPart('message', 'text')
        return
      case 'refusal':
        this.#openPart('message', block.type)
        return
      case 'reasoning':
        this.#openPart('reasoning', block.summary || this.#summarises ? 'summary' : 'reasoning')
        return
      case 'proof':
        this.#closeItem()
        this.#openProof(block.proof, block.ofCall)
        return
      case 'image':
        this.#closeItem()
        this.#openItem({ type: 'image', id: this.#itemId('ig'), url: block.url })
        this.#emit('response.image_generation_call.in_progress', this.#place)
        this.#emit('response.image_generation_call.generating', this.#place)
        return
      case 'tool-call':
        this.#closeItem()
        this.#openCall(block, { id: block.id, name: block.name, namespace: block.namespace, subagent: block.subagent })
    }
  }

  piece(text: string): void {
    this.#keep(text.length)
    this.#text += text
    if (this.#item?.type === 'built-in-call') return
    const json = JSON.stringify(text)
    this.#json += json.slice(1, -1)
    this.#emit(this.#deltaType, `${this.#place},"delta":${json}${this.#part === 'text' ? ',"logprobs":[]' : ''}`)
  }

  cite(citation: UrlCitation): void {
    const annotation = JSON.stringify({ type: 'url_citation', ...urlCitation(citation, this.#textStart, this.#text.length) })
    const members = `${this.#place},"annotation_index":${this.#annotations.length},"annotation":${annotation}`
    this.#emit('response.output_text.annotation.added', members)
    this.#annotations.push(annotation)
    this.#keep(annotation.length)
  }

  /** The text of the log probabilities has already been sent, so they come with an empty delta. */
  logprobs(content: readonly JsonValue[]): void {
    const reported = content.map((value) => JSON.stringify(logprob(value)))
    this.#emit(this.#deltaType, `${this.#place},"delta":"","logprobs":[${reported.join(',')}]`)
    for (const one of reported) this.#keep(one.length)
    this.#logprobs.push(...reported)
  }

  close(proof: ReasoningProof | null): void {
    const item = this.#item
    if (item === null) return
    if (this.#part === null || !isProse(item)) {
      if (item.type === 'image') this.#emit('response.image_generation_call.completed', this.#place)
      this.#closeItem()
      return
    }
    const text = this.#text
    const whole = this.#closePart(item, this.#part)
    this.#item = proof === null ? whole : { ...whole, encrypted: encryptedContent(vouchedFor(proof, text), item.id) }
    if (proof !== null) this.#closeItem()
  }

  /** The item of a running tool keeps its index while other items begin and end. */
  toolStarted(call: ServerCall): void {
    this.#closeItem('commentary')
    this.#ranTools = true
    const items = toolItems(call)
    const item = JSON.stringify(items.item(call, null, this.#asked))
    const index = this.#finished(item)
    this.#running.set(call.id, index)
    this.#emit('response.output_item.added', `"output_index":${index},"item":${item}`)
    for (const type of items.begun) this.#emitAt(type, call, index)
    if (call.reportsProgress === true) for (const type of PROGRESS_BEGUN[call.tool] ?? []) this.#emitAt(type, call, index)
  }

  toolProgressed(call: ServerCall, progress: ToolProgress): void {
    const index = this.#running.get(call.id)
    if (index === undefined) return
    const [type, members] = progressEvent(progress)
    this.#emitAt(type, call, index, members)
  }

  toolEnded(call: ServerCall, outcome: ServerOutcome): void {
    const items = toolItems(call)
    const index = this.#running.get(call.id)
    if (index === undefined) throw new Error(`The tool call ${call.id} ended without having begun.`)
    this.#running.delete(call.id)
    if (outcome.fault === null) {
      for (const type of items.ended) this.#emitAt(type, call, index)
    }
    if (call.reportsProgress === true)
      for (const [type, members] of progressEnd(call.tool, outcome)) this.#emitAt(type, call, index, members)
    const item = JSON.stringify(items.item(call, outcome, this.#asked))
    this.#keep(item.length)
    this.#keptOfItem = 0
    this.#done[index] = item
    this.#emit('response.output_item.done', `"output_index":${index},"item":${item}`)
    if (items.result === undefined) return
    const result = JSON.stringify(items.result(call, outcome))
    const behind = this.#finished(result)
    this.#emit('response.output_item.added', `"output_index":${behind},"item":${result}`)
    this.#emit('response.output_item.done', `"output_index":${behind},"item":${result}`)
  }

  #emitAt(type: string, { id }: ServerCall, index: number, members: JsonObject = {}): void {
    const more = JSON.stringify(members).slice(1, -1)
    this.#emit(type, `"item_id":${JSON.stringify(id)},"output_index":${index}${more === '' ? '' : `,${more}`}`)
  }

  /** Closes the last item; call it after the last block. */
  closeLast(): void {
    this.#closeItem(this.#ranTools ? 'final_answer' : null)
  }

  /** JSON texts of all items, with the open one as far as it came; used for a failed response. */
  soFar(): readonly string[] {
    const item = this.#item
    // A built-in call that was never emitted is left out.
    if (item === null || item.type === 'built-in-call') return this.#done
    const reported = isProse(item) && this.#part !== null ? this.#withPart(item, this.#part) : item
    return [...this.#done, itemText(reported, 'incomplete', this.#text)]
  }

  /** Returns the index of the item. Its text counts as kept, as far as its pieces have not. */
  #finished(item: string): number {
    this.#keep(Math.max(0, item.length - this.#keptOfItem))
    this.#keptOfItem = 0
    return this.#done.push(item) - 1
  }

  #keep(characters: number): void {
    this.#keptOfItem += characters
    this.#head.keep?.(characters)
  }

  #itemId(prefix: string): string {
    return `${dialectId(prefix, this.#head)}_${this.#done.length}`
  }

  #openCall({ custom, builtIn }: { readonly custom: boolean; readonly builtIn?: BuiltInTool }, call: ItemCall): void {
    if (builtIn !== undefined) {
      this.#item = { type: 'built-in-call', builtIn, call }
      this.#part = null
      return
    }
    this.#openItem({ type: custom ? 'custom-call' : 'call', id: this.#itemId(custom ? 'ctc' : 'fc'), call })
    this.#deltaType = custom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta'
  }

  /** If the tool does not accept the arguments, they are sent as an ordinary function call. */
  #closeBuiltIn(builtIn: BuiltInTool, call: ItemCall): void {
    const members = builtInCall(builtIn, this.#text)
    if (members === null) {
      const args = this.#text
      this.#text = ''
      this.#openCall({ custom: false }, call)
      this.piece(args)
      this.#closeItem()
      return
    }
    const place = `"output_index":${this.#done.length},"item":`
    const said = { call_id: call.id, ...members }
    const item = (status: ItemStatus): string => builtInItem(builtIn, this.#itemId(ITEM_PREFIXES[builtIn]), status, said)
    this.#emit('response.output_item.added', place + item('in_progress'))
    this.#emit('response.output_item.done', place + item('completed'))
    this.#finished(item('completed'))
    this.#item = null
  }

  #openItem(item: ReportedItem): void {
    this.#item = item
    this.#part = null
    this.#emit('response.output_item.added', `"output_index":${this.#done.length},"item":${itemText(item, 'in_progress', '')}`)
    this.#place = `"item_id":${JSON.stringify(item.id)},"output_index":${this.#done.length}`
  }

  /** Opens thinking without a readable part. The proof of a call must name its call, so it is always sealed. */
  #openProof(proof: ReasoningProof, ofCall: boolean): void {
    const id = (ofCall ? null : requiredItemId(proof)) ?? this.#itemId('rs')
    const encrypted = ofCall ? sealProof(proof) : encryptedContent(proof, id)
    this.#openItem({ type: 'reasoning', id, content: [], summary: [], encrypted })
  }

  #openPart(itemType: ProseItem['type'], type: PartType): void {
    if (this.#item?.type !== itemType) {
      this.#closeItem()
      const id = this.#itemId(itemType === 'message' ? 'msg' : 'rs')
      this.#openItem({ type: itemType, id, content: [], summary: [], encrypted: null })
    }
    const item = this.#item
    if (item === null || !isProse(item)) return
    const index = type === 'summary' ? `"summary_index":${item.summary.length}` : `"content_index":${item.content.length}`
    this.#part = type
    this.#place = `"item_id":${JSON.stringify(item.id)},"output_index":${this.#done.length},${index}`
    this.#deltaType = `response.${TEXT_EVENTS[type]}.delta`
    this.#emit(`response.${partEvents(type)}.added`, `${this.#place},"part":${part(type, '""')}`)
  }

  /** Closes the open part and returns the item including it. */
  #closePart(item: ProseItem, type: PartType): ProseItem {
    const said = `"${type === 'refusal' ? 'refusal' : 'text'}":"${this.#json}"`
    const logprobs = type === 'text' ? `,"logprobs":[${this.#logprobs.join(',')}]` : ''
    this.#emit(`response.${TEXT_EVENTS[type]}.done`, `${this.#place},${said}${logprobs}`)
    this.#emit(`response.${partEvents(type)}.done`, `${this.#place},"part":${this.#partText(type)}`)
    const whole = this.#withPart(item, type)
    this.#part = null
    return whole
  }

  #withPart(item: ProseItem, type: PartType): ProseItem {
    const reported = this.#partText(type)
    return type === 'summary' ? { ...item, summary: [...item.summary, reported] } : { ...item, content: [...item.content, reported] }
  }

  #partText(type: PartType): string {
    return part(type, `"${this.#json}"`, { annotations: this.#annotations, logprobs: this.#logprobs })
  }

  #closeItem(phase: MessagePhase | null = null): void {
    const item = this.#item
    if (item === null) return
    if (item.type === 'built-in-call') {
      this.#closeBuiltIn(item.builtIn, item.call)
      return
    }
    if (item.type === 'call') this.#closeArguments(item.call.name)
    if (item.type === 'custom-call') this.#emit('response.custom_tool_call_input.done', `${this.#place},"input":"${this.#json}"`)
    const isUnsigned = item.type === 'reasoning' && item.encrypted === null && this.#marksUnsigned
    const whole = isUnsigned ? { ...item, encrypted: UNSIGNED } : item
    const text = itemText(whole, item.type === 'image' ? 'completed' : this.#closingStatus, this.#text, phase)
    this.#emit('response.output_item.done', `"output_index":${this.#done.length},"item":${text}`)
    this.#finished(text)
    this.#item = null
  }

  #closeArguments(name: string): void {
    // A call without arguments gets an empty object: clients parse the text as JSON without checking.
    if (this.#text === '' && this.#closingStatus === 'completed') this.piece('{}')
    const members = `"name":${JSON.stringify(name)},"arguments":"${this.#json}"`
    this.#emit('response.function_call_arguments.done', `${this.#place},${members}`)
  }
}

const TEXT_EVENTS: Readonly<Record<PartType, string>> = {
  text: 'output_text',
  refusal: 'refusal',
  reasoning: 'reasoning_text',
  summary: 'reasoning_summary_text',
}

/**
 * True if the client asks for a summary of the thinking. Clients that do so, such as the AI SDK, read nothing else of it, and other vendors
 * than OpenAI do not tell a summary from the thinking.
 */
const asksForSummary = (request: JsonBody): boolean => {
  const reasoning = request.value('reasoning')
  return isObject(reasoning) && [reasoning['summary'], reasoning['generate_summary']].some((word) => typeof word === 'string')
}

const partEvents = (type: PartType): string => (type === 'summary' ? 'reasoning_summary_part' : 'content_part')

const ITEM_PREFIXES: Readonly<Record<BuiltInTool, string>> = { local_shell: 'lsh', shell: 'sh', apply_patch: 'apc' }

const isProse = (item: OpenItem): item is ProseItem => item.type === 'message' || item.type === 'reasoning'

const itemText = (item: ReportedItem, status: ItemStatus, args: string, phase: MessagePhase | null = null): string => {
  switch (item.type) {
    case 'message':
      return messageItem(item.id, status, item.content, phase)
    case 'reasoning':
      return reasoningItem(item.id, status, item)
    case 'call':
      return callItem(item.id, status, item.call, args)
    case 'custom-call':
      return customCallItem(item.id, status, item.call, args)
    case 'image':
      return imageItem(item.id, status, item.url)
  }
}
