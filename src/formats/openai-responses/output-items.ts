/** The output items of one response, built block by block, with the events that tell a stream of each step (contract 3.4). */
import { dialectId } from '../answer-parts.ts'
import type { Block, BlockSink } from '../block-sequence.ts'
import type { AnswerHead } from '../format.ts'
import { callItem, messageItem, part, reasoningItem } from './items.ts'
import type { ItemStatus, PartType } from './items.ts'

/** Takes one event: its type, and its members as JSON text without braces. */
export type Emit = (type: string, members: string) => void

type OpenItem =
  | { readonly type: 'message' | 'reasoning'; readonly id: string; readonly parts: string[]; part: PartType | null }
  | { readonly type: 'call'; readonly id: string; readonly call: { readonly id: string; readonly name: string } }

/**
 * One item is open at a time. A message takes text and refusals as parts, as long as nothing else comes between; it is
 * closed by whatever does, or by `closeLast`.
 */
export class OutputItems implements BlockSink {
  readonly #head: AnswerHead
  readonly #emit: Emit
  readonly #done: string[] = []
  #item: OpenItem | null = null
  /** Where the open block stands, as members; and the type of its deltas. */
  #place = ''
  #deltaType = ''
  /** All text of the open block. */
  #text = ''
  #closingStatus: ItemStatus = 'completed'

  constructor(head: AnswerHead, emit: Emit) {
    this.#head = head
    this.#emit = emit
  }

  /** JSON texts of the items that are done. */
  get done(): readonly string[] {
    return this.#done
  }

  /** From here on, items that close were cut short. */
  cutShort(): void {
    this.#closingStatus = 'incomplete'
  }

  open(block: Block): void {
    this.#text = ''
    if (block.type === 'tool-call') {
      this.#closeItem()
      this.#openItem({ type: 'call', id: this.#itemId('fc'), call: { id: block.id, name: block.name } })
      return
    }
    const type = block.type === 'reasoning' ? 'reasoning' : 'message'
    if (this.#item?.type !== type) {
      this.#closeItem()
      this.#openItem({ type, id: this.#itemId(type === 'message' ? 'msg' : 'rs'), parts: [], part: null })
    }
    this.#openPart(block.type)
  }

  piece(text: string): void {
    this.#text += text
    const logprobs = this.#deltaType === 'response.output_text.delta' ? ',"logprobs":[]' : ''
    this.#emit(this.#deltaType, `${this.#place},"delta":${JSON.stringify(text)}${logprobs}`)
  }

  close(): void {
    if (this.#item === null) return
    if (this.#item.type === 'call') this.#closeItem()
    else this.#closePart(this.#item)
  }

  /** After the last block. */
  closeLast(): void {
    this.#closeItem()
  }

  /** JSON texts of all items, with the open one as far as it came: what a failure leaves behind. */
  soFar(): readonly string[] {
    const item = this.#item
    if (item === null) return this.#done
    if (item.type === 'call') return [...this.#done, itemText(item, 'incomplete', this.#text)]
    const parts = item.part === null ? item.parts : [...item.parts, part(item.part, this.#text)]
    return [...this.#done, itemText({ ...item, parts }, 'incomplete', '')]
  }

  #itemId(prefix: string): string {
    return `${dialectId(prefix, this.#head)}_${this.#done.length}`
  }

  #openItem(item: OpenItem): void {
    this.#item = item
    this.#emit('response.output_item.added', `"output_index":${this.#done.length},"item":${itemText(item, 'in_progress', '')}`)
    if (item.type !== 'call') return
    this.#place = this.#itemPlace(item)
    this.#deltaType = 'response.function_call_arguments.delta'
  }

  #openPart(type: PartType): void {
    const item = this.#item
    if (item === null || item.type === 'call') return
    item.part = type
    this.#place = `${this.#itemPlace(item)},"content_index":${item.parts.length}`
    this.#deltaType = `response.${PART_EVENTS[type]}.delta`
    this.#emit('response.content_part.added', `${this.#place},"part":${part(type, '')}`)
  }

  #closePart(item: Exclude<OpenItem, { type: 'call' }>): void {
    const type = item.part
    if (type === null) return
    const said = `"${type === 'refusal' ? 'refusal' : 'text'}":${JSON.stringify(this.#text)}${type === 'text' ? ',"logprobs":[]' : ''}`
    this.#emit(`response.${PART_EVENTS[type]}.done`, `${this.#place},${said}`)
    const text = part(type, this.#text)
    this.#emit('response.content_part.done', `${this.#place},"part":${text}`)
    item.parts.push(text)
    item.part = null
  }

  #closeItem(): void {
    const item = this.#item
    if (item === null) return
    if (item.type === 'call') this.#closeArguments(item.call.name)
    const text = itemText(item, this.#closingStatus, this.#text)
    this.#emit('response.output_item.done', `"output_index":${this.#done.length},"item":${text}`)
    this.#done.push(text)
    this.#item = null
  }

  #closeArguments(name: string): void {
    // A call without arguments is one with an empty object: clients parse the text as JSON unseen.
    if (this.#text === '' && this.#closingStatus === 'completed') this.piece('{}')
    const members = `"name":${JSON.stringify(name)},"arguments":${JSON.stringify(this.#text)}`
    this.#emit('response.function_call_arguments.done', `${this.#place},${members}`)
  }

  #itemPlace(item: OpenItem): string {
    return `"item_id":${JSON.stringify(item.id)},"output_index":${this.#done.length}`
  }
}

const PART_EVENTS: Readonly<Record<PartType, string>> = { text: 'output_text', refusal: 'refusal', reasoning: 'reasoning_text' }

const itemText = (item: OpenItem, status: ItemStatus, args: string): string => {
  if (item.type === 'call') return callItem(item.id, status, item.call, args)
  return item.type === 'message' ? messageItem(item.id, status, item.parts) : reasoningItem(item.id, status, item.parts)
}
