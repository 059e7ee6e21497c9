/** Keeps the content blocks of a turn as Claude wrote them: a turn in which its own tools were at work goes back to it unchanged. */
import type { OwnBlock } from '../../canonical/prompt.ts'
import { isObject, objectIn, textOf } from '../../lib/json/json.ts'
import { editMembers } from '../../lib/json/json-splice.ts'
import { isVisible } from '../message-blocks.ts'
import { OF_PROVIDER } from './encode-parts.ts'

interface OpenBlock {
  readonly block: Record<string, unknown>
  /** The input of a call, from the pieces that came after the block's beginning. */
  input: string
}

export class KeptBlocks {
  /** By their index in the answer. */
  readonly #blocks = new Map<number, OpenBlock>()
  /** A piece came that cannot be joined. */
  #isUntold = false

  open(index: number, block: unknown): void {
    if (isObject(block)) this.#blocks.set(index, { block: { ...block }, input: '' })
    else this.#isUntold = true
  }

  grow(index: number, delta: unknown): void {
    const open = this.#blocks.get(index)
    if (open === undefined || !isObject(delta) || !grown(open, delta)) this.#isUntold = true
  }

  /** Undefined if no tool of Claude's own was at work, or if the turn cannot be reproduced. */
  blocks(): readonly OwnBlock[] | undefined {
    const all = [...this.#blocks].toSorted(([a], [b]) => a - b).map(([, one]) => one)
    if (this.#isUntold || !all.some(({ block }) => OF_PROVIDER.test(textOf(block['type'])))) return undefined
    if (all.some(({ input }) => input !== '' && objectIn(input) === null)) return undefined
    // The API sometimes sends empty text, but does not accept it back.
    return all.filter(({ block }) => block['type'] !== 'text' || isVisible(textOf(block['text']))).map(ownBlock)
  }
}

/** False for a piece of an unknown kind. */
const grown = (open: OpenBlock, delta: Readonly<Record<string, unknown>>): boolean => {
  const { block } = open
  switch (delta['type']) {
    case 'text_delta':
      block['text'] = textOf(block['text']) + textOf(delta['text'])
      return true
    case 'thinking_delta':
      block['thinking'] = textOf(block['thinking']) + textOf(delta['thinking'])
      return true
    case 'signature_delta':
      block['signature'] = delta['signature']
      return true
    case 'citations_delta':
      block['citations'] = [...(Array.isArray(block['citations']) ? (block['citations'] as readonly unknown[]) : []), delta['citation']]
      return true
    case 'input_json_delta':
      open.input += textOf(delta['partial_json'])
      return true
    default:
      return false
  }
}

const ownBlock = ({ block, input }: OpenBlock): OwnBlock => {
  const type = textOf(block['type'])
  const json = JSON.stringify(block)
  return {
    type,
    json: input === '' ? json : editMembers(json, { input }),
    ...(CALLS.has(type) ? { calls: textOf(block['id']) } : {}),
    ...(type === 'tool_result' || typeof block['tool_use_id'] !== 'string' ? {} : { answers: block['tool_use_id'] }),
  }
}

const CALLS: ReadonlySet<string> = new Set(['server_tool_use', 'mcp_tool_use'])
