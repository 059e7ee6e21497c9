/**
 * Encodes the thinking of an earlier turn for vendors that want it back: with its proofs for a router, which passes them to their makers,
 * and as text for vendors whose models sign nothing. Every other vendor gets none of it.
 */
import type { Part } from '../../canonical/prompt.ts'
import type { ReasoningFormat, ReasoningProof } from '../../canonical/reasoning.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Target } from '../provider.ts'
import type { Vendor } from '../vendors/vendor.ts'
import type { MessageContext } from './message-context.ts'

/** The form in which the vendor wants thinking back for this model. */
export const thinkingBackTo = ({ thinkingBack }: Vendor, { upstreamModel }: Pick<Target, 'upstreamModel'>): Vendor['thinkingBack'] =>
  typeof thinkingBack === 'object' && thinkingBack.models?.test(upstreamModel) === false ? 'none' : thinkingBack

/**
 * Returns members of the message. Proofs that cannot go back are reported; readable thinking that has no place there is not
 * (decisions/0131).
 */
export const encodeThinking = (parts: readonly Part[], at: string, context: MessageContext): JsonObject => {
  const { vendor, target } = context
  const form = thinkingBackTo(vendor, target)
  let lost = false
  const keep = (proof: ReasoningProof | undefined): boolean => {
    if (proof === undefined) return true
    const kept =
      (vendor.thinkingBack === 'details' ? isOfModel(proof.format, target.upstreamModel) : isBlock(proof, vendor)) &&
      (proof.model ?? target.modelId) === target.modelId
    lost ||= !kept
    return kept
  }
  const kept = parts.filter((part) => (part.type === 'reasoning' || part.type === 'tool-call') && keep(part.proof))
  if (lost) context.lose(at, `${target.providerName} did not make the thinking of this turn; it was left out.`)

  if (form === 'untouched') return encodeBlocks(kept)
  if (form === 'details') return encodeDetails(kept, context)
  // Parts of the content are encoded with its other parts.
  if (typeof form === 'string' || form.field === 'content') return {}
  const { field, filler } = form
  const text = readable(kept)
  if (text !== '') return { [field]: text }
  return filler !== null && parts.some(({ type }) => type === 'tool-call') ? { [field]: filler } : {}
}

/** A server about which nothing is known gets back what such a server gave: only LiteLLM has these blocks. */
const isBlock = ({ member }: ReasoningProof, { thinkingBack }: Vendor): boolean =>
  thinkingBack === 'untouched' && member === 'thinking_blocks'

const encodeBlocks = (parts: readonly Part[]): JsonObject => {
  const blocks = parts.flatMap((part): readonly JsonObject[] => {
    if (part.type !== 'reasoning' || part.proof === undefined) return []
    const { kind, data, text = part.text } = part.proof
    return kind === 'encrypted' ? [{ type: 'redacted_thinking', data }] : [{ type: 'thinking', thinking: text, signature: data }]
  })
  return blocks.length === 0 ? {} : { thinking_blocks: blocks }
}

const MAKERS: Readonly<Record<ReasoningFormat, string>> = {
  'anthropic-claude-v1': 'anthropic/',
  'openai-responses-v1': 'openai/',
  'google-gemini-v1': 'google/',
}

/**
 * The formats that routers name by maker, whatever cloud the model ran in (`azure-openai-responses-v1`), and the names of that maker's
 * models: those of a router, and those of servers that name no maker (Snowflake's `claude-sonnet-4-6`).
 */
const FAMILIES: readonly (readonly [format: RegExp, model: RegExp])[] = [
  [/(?:^|-)anthropic-/, /^anthropic\/|(?:^|[./])claude-/],
  [/(?:^|-)openai-/, /^openai\/|(?:^|[./])(?:gpt-(?!oss)|o\d)/],
  [/(?:^|-)google-/, /^google\/|(?:^|[./])gemini-/],
  [/(?:^|-)xai-/, /^x-?ai\/|(?:^|[./])grok-/],
  [/(?:^|-)meta-/, /^meta(?:-llama)?\/|(?:^|[./])llama-/],
]

/** False if the maker of the format is known, and nothing in its name says that the model is that maker's. */
export const mayBeOf = (format: string, model: string): boolean => {
  const family = FAMILIES.find(([name]) => name.test(format))
  return family === undefined || family[1].test(model)
}

/** `model` is a router's name for it: vendor/model. */
const isOfModel = (format: ReasoningFormat, model: string): boolean => model.startsWith(MAKERS[format])

/** Makers of proofs refuse thinking without one; for all other models the text is what counts. */
const provesThinking = ({ upstreamModel }: Target): boolean => Object.values(MAKERS).some((maker) => upstreamModel.startsWith(maker))

const encodeDetails = (parts: readonly Part[], { target }: MessageContext): JsonObject => {
  if (!provesThinking(target)) {
    const text = readable(parts)
    return text === '' ? {} : { reasoning: text }
  }
  const details = parts.flatMap((part, index): readonly JsonObject[] => {
    if (part.type === 'tool-call') {
      // The proof of a call carries the call's id.
      return part.proof === undefined ? [] : [encrypted({ ...part.proof, id: part.id }, index)]
    }
    if (part.type !== 'reasoning' || part.proof === undefined) return []
    const { proof, text, summary } = part
    if (proof.kind === 'signature' && proof.format === 'anthropic-claude-v1')
      return [{ type: 'reasoning.text', text, signature: proof.data, format: proof.format, index }]
    const shown = summary === true ? { type: 'reasoning.summary', summary: text } : { type: 'reasoning.text', text }
    return [...(text === '' ? [] : [{ ...shown, format: proof.format, index }]), encrypted(proof, index)]
  })
  return details.length === 0 ? {} : { reasoning_details: details }
}

const encrypted = ({ data, id, format }: ReasoningProof, index: number): JsonObject => ({
  type: 'reasoning.encrypted',
  data,
  ...(id === undefined ? {} : { id }),
  format,
  index,
})

const readable = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === 'reasoning' && part.proof === undefined && part.text !== '' ? [part.text] : [])).join('\n\n')
