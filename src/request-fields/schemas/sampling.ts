/** How tokens are sampled, and how many there may be (docs/contract/requests.md#sampling). */
import { z } from 'zod'

import { positiveInteger } from './scalars.ts'

const penalty = z.number().min(-2).max(2)
const share = z.number().min(0).max(1)

export const temperature = z.number().min(0).max(2)
export const topP = share
export const topK = z.int().min(0)
export const topA = share
export const minP = share
export const frequencyPenalty = penalty
export const presencePenalty = penalty
export const repetitionPenalty = z.number().min(0).max(2)
/** OpenAI's seeds have 64 bits: "Create chat completion". A body that is passed on keeps the digits of one beyond 2^53. */
export const seed = z
  .number()
  .min(-(2 ** 63))
  .max(2 ** 63)
  .refine(Number.isInteger, { error: 'Expected a whole number.' })
  .meta({ type: 'integer' })
export const tokenLimit = positiveInteger
export const messagesTokenLimit = z
  .int()
  .min(0)
  .meta({ description: 'Claude answers nothing at 0, and only fills the cache of the prompt.' })
export const logitBias = z
  .record(z.string(), z.number().min(-100).max(100))
  .meta({ description: 'Token id to bias, from -100 (never) to 100 (always).' })
export const topLogprobs = z.int().min(0).max(20)

/** The number of answers, limited as OpenAI limits it, because each answer is charged. */
export const candidates = z.int().min(1).max(128)

/** At most four sequences, as in Chat Completions; `stop_sequences` of Messages has no such limit. */
export const stop = z.union([z.string(), z.array(z.string()).max(4)])
