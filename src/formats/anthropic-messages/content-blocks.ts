/** The content blocks of a whole message. */
import type { UrlCitation } from '../../canonical/prompt.ts'
import { pictureText } from './picture-text.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import { parseExactInSteps, writeInSteps } from '../../lib/json/json-steps.ts'
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import type { Block, BlockSink } from '../block-sequence.ts'
import { resultBlock, useBlock } from './server-tool-blocks.ts'
import { proofBlock, signatureOf } from './thinking.ts'

export interface BlockCollector extends BlockSink {
  /** The closed blocks. */
  readonly blocks: readonly CollectedBlock[]
}

/** A block that will be written as JSON; the arguments of a call (`input`) are JSON text already. */
interface CollectedBlock {
  readonly block: JsonObject
  readonly input?: string
}

export const collectBlocks = (): BlockCollector => {
  const blocks: CollectedBlock[] = []
  let open: Block | null = null
  let text = ''
  let citations: JsonObject[] = []
  return {
    blocks,
    open(block) {
      open = block
      text = ''
      citations = []
    },
    piece(piece) {
      text += piece
    },
    cite(citation) {
      citations.push(citationLocation(citation))
    },
    close(proof) {
      if (open !== null) blocks.push(contentBlock(open, text, citations, proof))
      open = null
    },
    toolStarted(call) {
      blocks.push({ block: useBlock(call) })
    },
    toolEnded(call, outcome) {
      blocks.push({ block: resultBlock(call, outcome) })
    },
  }
}

/** A source, written as a web search result: the only citation location of this dialect that has a URL. */
export const citationLocation = ({ url, title, content }: UrlCitation): JsonObject => ({
  type: 'web_search_result_location',
  cited_text: content ?? '',
  encrypted_index: '',
  // Typed clients require a string here.
  title: title ?? '',
  url,
})

/** The JSON text of one block. `isCut`: the answer ended before the model did. */
export function* blockText({ block, input }: CollectedBlock, isCut: boolean): Steps<string> {
  if (input !== undefined) return `${JSON.stringify(block).slice(0, -1)},"input":${yield* inputText(input, isCut)}}`
  return sizeOfBlock({ block }) > LARGE_BYTES ? yield* writeInSteps(block) : JSON.stringify(block)
}

/** The number of characters in its texts, including image data. */
export const sizeOfBlock = ({ block, input = '' }: CollectedBlock): number => {
  let size = input.length
  for (const name in block) {
    const value = block[name]
    if (typeof value === 'string') size += value.length
    else if (isObject(value) && typeof value['data'] === 'string') size += value['data'].length
  }
  return size
}

const contentBlock = (block: Block, text: string, citations: readonly JsonObject[], proof: ReasoningProof | null): CollectedBlock => {
  switch (block.type) {
    case 'tool-call':
      return { block: { type: 'tool_use', id: block.id, name: block.name }, input: text }
    case 'reasoning':
      return { block: { type: 'thinking', thinking: text, signature: signatureOf(proof) } }
    case 'proof': {
      const reported = proofBlock(block)
      return { block: 'data' in reported ? { type: 'redacted_thinking', ...reported } : { type: 'thinking', thinking: '', ...reported } }
    }
    case 'image':
      return { block: { type: 'text', text: pictureText(block.url), citations } }
    case 'text':
    case 'refusal':
      return { block: { type: 'text', text, citations } }
  }
}

/**
 * The arguments as written, if they are a JSON object. A call that was cut short has none to send. Any other text is wrapped in an
 * object, as Anthropic does: an empty object would be a call that the model did not make.
 */
function* inputText(json: string, isCut: boolean): Steps<string> {
  const text = json.trim()
  if (text === '' || text === 'null') return '{}'
  if (text.startsWith('{') && (yield* isJson(text))) return text
  return isCut ? '{}' : JSON.stringify({ INVALID_JSON: json })
}

function* isJson(text: string): Steps<boolean> {
  try {
    if (text.length > LARGE_BYTES) yield* parseExactInSteps(text)
    else JSON.parse(text)
    return true
  } catch {
    return false
  }
}
