/**
 * Remembers which model signed which thinking. An Anthropic model refuses the thinking of another one, but in Messages and Chat Completions
 * a signature goes to the client without a place for its maker's name. So the maker is remembered when the answer passes, and looked up
 * when the thinking comes back.
 */
import type { TakeFrames } from '../../canonical/event.ts'
import type { Part, Prompt } from '../../canonical/prompt.ts'
import { once } from '../../lib/once.ts'
import type { ProviderAdapter, ProofMakers } from '../provider.ts'
import { digestOf } from './proof-digest.ts'

/** Takes about 3 MB. */
const PROOFS_MAX = 20_000

/**
 * Kept in the memory of one process: a signature from another process, or from before this one started, has no known maker and is let
 * through.
 */
export const createProofMakers = (): ProofMakers => {
  /** By a digest of the proof; the least recently used first. */
  const makers = new Map<string, string>()
  const remember = (key: string, model: string): void => {
    makers.delete(key)
    makers.set(key, model)
    if (makers.size <= PROOFS_MAX) return
    const [oldest] = makers.keys()
    if (oldest !== undefined) makers.delete(oldest)
  }
  return {
    makerOf(proof) {
      if (makers.size === 0) return null
      const key = digestOf(proof)
      const model = makers.get(key)
      if (model === undefined) return null
      // Makes the proofs of a continuing conversation the most recently used ones.
      remember(key, model)
      return model
    },
    remember: (proof, model) => remember(digestOf(proof), model),
  }
}

/** Wraps an adapter: remembers the makers of the thinking that is signed in its answers, and names them on thinking that comes back. */
export const knowingMakers =
  (adapter: ProviderAdapter): ProviderAdapter =>
  (attempt, context, take) => {
    const { proofMakers } = context
    if (proofMakers === undefined) return adapter(attempt, context, take)
    const { call } = attempt
    const prompt = once(() => withMakers(call.prompt(), proofMakers))
    return adapter({ ...attempt, call: { ...call, prompt }, makerOf: proofMakers.makerOf }, context, learning(take, proofMakers))
  }

const learning =
  (take: TakeFrames, makers: ProofMakers): TakeFrames =>
  (frames) => {
    for (const { events } of frames)
      for (const event of events) {
        const proof = event.type === 'reasoning-end' ? event.proof : null
        if (proof?.format === 'anthropic-claude-v1' && proof.model !== undefined) makers.remember(proof.data, proof.model)
      }
    return take(frames)
  }

const withMakers = (prompt: Prompt, { makerOf }: ProofMakers): Prompt => ({
  ...prompt,
  messages: prompt.messages.map((message) => {
    if (message.role !== 'assistant') return message
    const parts = message.parts.map((part) => withMaker(part, makerOf))
    return parts.every((part, index) => part === message.parts[index]) ? message : { ...message, parts }
  }),
})

const withMaker = (part: Part, makerOf: ProofMakers['makerOf']): Part => {
  if (part.type !== 'reasoning' || part.proof?.format !== 'anthropic-claude-v1' || part.proof.model !== undefined) return part
  const model = makerOf(part.proof.data)
  return model === null ? part : { ...part, proof: { ...part.proof, model } }
}

/** Longer strings in these members are pictures and files. */
const PROOF = /"(?:signature|data)"\s*:\s*"([^"]{16,262144})"/g

/** Says whether JSON text holds the thinking of another model. It only searches, so that text without any is not parsed. */
export const holdsThinkingOfOthers = (text: string, modelId: string, makerOf: ProofMakers['makerOf']): boolean => {
  if (!SIGNED.test(text)) return false
  for (const [, written = ''] of text.matchAll(PROOF)) {
    const maker = makerOf(written.replaceAll('\\/', '/'))
    if (maker !== null && maker !== modelId) return true
  }
  return false
}

const SIGNED = /"signature"|"redacted_thinking"/
