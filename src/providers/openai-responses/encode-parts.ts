/** Encodes parts of a message as content parts or items. */
import { createHash } from 'node:crypto'

import type { CacheMark, Part, UrlCitation } from '../../canonical/prompt.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { fileNameFor, isDataUrl } from '../../lib/network/data-url.ts'
import { cacheBreakpoint } from '../cache-marks.ts'
import type { Target } from '../provider.ts'
import type { Losses } from '../losses/losses.ts'
import { uncarried } from '../losses/uncarried.ts'
import type { OpenAiModel } from '../vendors/openai-model.ts'

export interface ItemContext extends Pick<Losses, 'lose' | 'refuse'> {
  readonly target: Target
  readonly family: OpenAiModel
  /** Called for a cache mark that cannot be carried. */
  readonly marked: (at: string) => void
  /** Ids of the calls so far whose tools take free text. */
  readonly customCalls: Set<string>
}

/** Content of the open message, an item of its own, or nothing. */
export type OutputPart = { readonly content: JsonObject } | { readonly item: JsonObject } | null

/** Encodes parts of user, system and developer messages, and media that tools returned. */
export const encodeUserPart = (part: Part, at: string, context: ItemContext): OutputPart => {
  if (part.type === 'text') return { content: { type: 'input_text', text: part.text, ...breakpoint(part.cache, at, context) } }
  if (part.type === 'image')
    return { content: { type: 'input_image', image_url: part.url, detail: detailOf(part.detail), ...breakpoint(part.cache, at, context) } }
  if (part.type === 'file')
    return { content: { type: 'input_file', ...fileOf(part.url, part.filename), ...breakpoint(part.cache, at, context) } }
  return lost(part, { at, role: 'user' }, context)
}

export const encodeAssistantPart = (part: Part, at: string, context: ItemContext): OutputPart => {
  if (part.type === 'refusal') return { content: { type: 'refusal', refusal: part.text } }
  if (part.type === 'reasoning') return reasoningItem(part, at, context)
  if (part.type !== 'text') return lost(part, { at, role: 'assistant' }, context)
  if (part.cache !== undefined) context.marked(at)
  return { content: { type: 'output_text', text: part.text, ...annotations(part.annotations, at, context) } }
}

const lost = (...[part, place, context]: Parameters<typeof uncarried>): null => {
  uncarried(part, place, context)
  return null
}

/** The API's own limit. Ids of other providers' calls may be longer; a shortened id only has to be the same in call and result. */
export const CALL_ID_MAX = 64

export const callId = (id: string): string =>
  id.length <= CALL_ID_MAX
    ? id
    : `call_${createHash('sha256')
        .update(id)
        .digest('hex')
        .slice(0, CALL_ID_MAX - 5)}`

const DETAILS: ReadonlySet<string> = new Set(['low', 'high', 'original'])

const detailOf = (detail: string | undefined): string => (detail !== undefined && DETAILS.has(detail) ? detail : 'auto')

/** The API refuses a name beside an address, and data without a name. */
const fileOf = (url: string, filename: string | null): JsonObject =>
  isDataUrl(url) ? { filename: filename ?? fileNameFor(url), file_data: url } : { file_url: url }

const breakpoint = (cache: CacheMark | undefined, at: string, { family, marked }: ItemContext): JsonObject => {
  if (cache === undefined) return {}
  if (family.cacheBreakpoints) return { prompt_cache_breakpoint: cacheBreakpoint(cache) }
  marked(at)
  return {}
}

const annotations = (citations: readonly UrlCitation[] | undefined, at: string, { lose }: ItemContext): JsonObject => {
  if (citations === undefined || citations.length === 0) return {}
  const whole = citations.flatMap(({ url, title, start, end }) =>
    start === null || end === null ? [] : [{ type: 'url_citation', url, title: title ?? '', start_index: start, end_index: end }],
  )
  if (whole.length < citations.length) lose(at, 'Citations without a position in the text were left out.')
  return { annotations: whole }
}

/**
 * Thinking goes back only to its maker, and only with its proof. Its readable part always becomes a summary here: the API refuses an item
 * that contains thinking in full.
 */
const reasoningItem = ({ text, proof }: Part & { type: 'reasoning' }, at: string, { lose, target, family }: ItemContext): OutputPart => {
  if (proof === undefined || !isOwnProof(proof, target) || family.reasons === false) {
    lose(at, `Thinking that ${target.providerName} cannot verify was left out.`)
    return null
  }
  return {
    item: {
      type: 'reasoning',
      ...(isItemId(proof.id) ? { id: proof.id } : {}),
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
      encrypted_content: proof.data,
    },
  }
}

/** The proof was made in this dialect and, as far as is known, not by another model. */
export const isOwnProof = ({ format, kind, model }: ReasoningProof, target: Target): boolean =>
  format === 'openai-responses-v1' && kind === 'encrypted' && (model === undefined || model === target.modelId)

/** An id that the API would refuse can be left out: the encrypted thinking is complete without it. */
export const isItemId = (id: string | undefined): id is string => id !== undefined && /^rs_[\w-]{1,61}$/.test(id)
