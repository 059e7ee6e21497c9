/** Small parts of an answer that all three dialects render alike. */
import type { GatewayError } from '../errors.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import type { JsonChanges, JsonObject } from '../lib/json/json.ts'
import { serviceTier } from '../request-fields/schemas/routing.ts'
import type { AnswerHead, AnswerTail, StreamRenderer, Written } from './format.ts'

/** Returns a `resp_…` or `msg_…` id that names the same generation as its `gen-…` id. */
export const dialectId = (prefix: string, head: AnswerHead): string => `${prefix}_${head.generationId.replace(/^gen-/, '')}`

/** The members that the service adds to an answer: the routing metadata, if requested, and a judge's verdict. */
export const metadataMember = (tail: AnswerTail | null): JsonObject => ({
  ...routingMember(tail),
  ...(tail?.alignment === undefined ? {} : { alignment: tail.alignment }),
})

const routingMember = (tail: AnswerTail | null): JsonObject =>
  tail === null || tail.metadata === null ? {} : { [tail.metadata.field]: tail.metadata.value }

/** Like `metadataMember`, but next to an error: a 500 reveals no internals (docs/contract/errors.md#types). */
export const errorMetadataMember = (error: GatewayError, tail: AnswerTail | null): JsonObject =>
  error.status === 500 ? {} : routingMember(tail)

/**
 * The tier that served the request, if known and if OpenAI's dialects have a name for it (docs/contract/routing.md#service-tiers): typed
 * clients refuse a whole answer for any other name.
 */
export const tierMember = ({ usage }: AnswerTail): JsonObject => (isTierName(usage.servedTier) ? { service_tier: usage.servedTier } : {})

export const isTierName = (word: unknown): word is string => typeof word === 'string' && Object.hasOwn(serviceTier.enum, word)

/** Removes a vendor's own name of a tier, such as Groq's `on_demand`. */
export const withoutVendorsTier = (body: JsonBody): JsonChanges => {
  const word = body.get('service_tier')
  return typeof word === 'string' && !isTierName(word) ? { service_tier: null } : {}
}

/**
 * The members, as JSON texts, that the service adds to an answer of an upstream that speaks the client's dialect. The tier is
 * added only if the upstream names none, or by a name of its own.
 */
export const addedMembers = (body: JsonBody, tail: AnswerTail): JsonChanges => {
  const added: JsonObject = { ...(isTierName(body.get('service_tier')) ? {} : tierMember(tail)), ...metadataMember(tail) }
  const texts: Record<string, string | null | undefined> = { ...withoutVendorsTier(body) }
  for (const field in added) texts[field] = JSON.stringify(added[field])
  return texts
}

/** Wraps the renderer so that its terminal states are enforced: any write after `finish` or `fail` throws. */
export const endingOnce = <Text extends Written>(renderer: StreamRenderer<Text>): StreamRenderer<Text> => {
  let ended = false
  const assertOpen = (): void => {
    if (ended) throw new Error('A stream was written to after its end.')
  }
  return {
    frames(frames) {
      assertOpen()
      return renderer.frames(frames)
    },
    finish(tail) {
      assertOpen()
      const text = renderer.finish(tail)
      ended = true
      return text
    },
    fail(error, tail) {
      assertOpen()
      const text = renderer.fail(error, tail)
      ended = true
      return text
    },
  }
}
