/** Encodes a turn of the assistant as one message: its thinking, as far as the vendor wants it back, its words and its calls. */
import type { Part } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { MessageContext } from './message-context.ts'
import { leftOut } from './encode-parts.ts'
import { encodeThinking, thinkingBackTo } from './encode-thinking.ts'
import { contentOf } from './placed-message.ts'
import { isThinkingPart, thinkingPart } from './thinking-parts.ts'

/** Empty for a turn with nothing left in it. */
export const encodeAssistant = (parts: readonly Part[], at: string, context: MessageContext): readonly JsonObject[] => {
  const { vendor } = context
  const form = thinkingBackTo(vendor, context.target)
  const said: JsonObject[] = []
  const calls: JsonObject[] = []
  const images: JsonObject[] = []
  let refusal: string | null = null
  let sources = false

  for (const part of parts) {
    switch (part.type) {
      case 'text':
        said.push({ type: 'text', text: part.text, ...context.cacheControl(part.cache, at, 'content') })
        sources ||= (part.annotations ?? []).length > 0
        break
      case 'refusal':
        if (vendor.refusals) refusal = (refusal ?? '') + part.text
        else if (part.text !== '') said.push({ type: 'text', text: part.text })
        break
      case 'image':
        if (vendor.thinkingBack === 'details') images.push({ type: 'image_url', image_url: { url: part.url } })
        else leftOut(part, { at, role: 'assistant' }, context)
        break
      case 'tool-call':
        context.cacheControl(part.cache, at, 'call')
        calls.push({ id: part.id, ...calledTool(part) })
        break
      case 'reasoning':
        // In any other form encodeThinking writes them, with the proofs of calls.
        if (typeof form === 'object' && form.field === 'content' && part.proof === undefined && part.text !== '')
          said.push(thinkingPart(part.text))
        break
      case 'unknown':
      case 'audio':
      case 'video':
      case 'file':
      case 'tool-result':
        leftOut(part, { at, role: 'assistant' }, context)
        break
    }
  }

  if (sources) context.lose(at, `${context.target.providerName} takes no sources of earlier answers; they were left out.`)
  const thinking = encodeThinking(parts, at, context)
  const content = contentOf(said)
  if (said.every(isThinkingPart) && refusal === null && calls.length === 0 && images.length === 0) return []
  return [
    {
      role: 'assistant',
      content,
      ...(refusal === null ? {} : { refusal }),
      ...thinking,
      ...(images.length === 0 ? {} : { images }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ]
}

const calledTool = ({ name, arguments: said, custom }: Extract<Part, { type: 'tool-call' }>): JsonObject =>
  custom === true
    ? { type: 'custom', custom: { name, input: said } }
    : { type: 'function', function: { name, arguments: said === '' ? '{}' : said } }
