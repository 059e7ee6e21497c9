/**
 * Reads the texts that stand for pictures in turns of the assistant (picture-text.ts) as image blocks. This is done in the body
 * itself: as text, a picture would be measured as hundreds of thousands of tokens, and filters would read its base64.
 */
import { pictureIn } from './picture-text.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { rewrittenText } from '../../lib/json/json-rewrite.ts'
import { isList, isObject, type JsonValue } from '../../lib/json/json.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { includesInSteps } from '../../lib/text/search-steps.ts'
import { imageBlock } from './image-block.ts'

/** Returns the same body if it has no such texts. */
export function* withDrawnPictures(body: JsonBody): Steps<JsonBody> {
  if (!(yield* includesInSteps(body.rawHeld('messages') ?? '', '"![image](data:image'))) return body
  yield* body.reading(['messages'])
  const messages = body.value('messages')
  const raw = body.raw('messages')
  if (!isList(messages) || raw === undefined) return body
  return yield* body.changing({ messages: yield* rewrittenText(yield* mapInSteps(messages, withBlocks), messages, raw) })
}

const withBlocks = (message: JsonValue): JsonValue => {
  if (!isObject(message) || message['role'] !== 'assistant') return message
  const { content = null } = message
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  if (!isList(blocks)) return message
  const read = blocks.map(withPicture)
  return read.some((block, index) => block !== blocks[index]) ? { ...message, content: read } : message
}

const withPicture = (block: JsonValue): JsonValue => {
  if (!isObject(block)) return block
  const { type, text, cache_control: cache } = block
  const url = type === 'text' && typeof text === 'string' ? pictureIn(text) : null
  return url === null ? block : { ...imageBlock(url), ...(cache === undefined ? {} : { cache_control: cache }) }
}
