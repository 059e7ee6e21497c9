/**
 * Leaves out thinking that a provider refuses. A proof is valid only in the account, and often only in the region, in which it was made,
 * and no part of it shows which one that is: after a failover, after a change of keys, or in a conversation that began elsewhere, a
 * provider gets the thinking of its own model and refuses the whole request, in every turn. So the attempt is sent a second time without
 * it. What was refused is remembered: later turns are sent without it at once, and with what the model has thought since.
 */
import type { ClientDialect } from '../../canonical/call.ts'
import { GatewayError } from '../../errors.ts'
import { encoded } from '../transport/encoded.ts'
import type { Attempt, ProviderAdapter } from '../provider.ts'
import { refusalOf, warningOnce } from '../transport/second-try.ts'
import { type IsRefused, withoutThinking } from './without-thinking.ts'

/** `own`: the client dialect that the provider speaks; null if no client speaks it. */
export const leavingOutRefused =
  (adapter: ProviderAdapter, own: ClientDialect | null): ProviderAdapter =>
  (given, context, take) => {
    const attempt = { ...given, warn: warningOnce(given.warn) }
    const { target } = attempt
    const without = async (isRefused: IsRefused): Promise<Attempt | null> => {
      const call = await encoded(withoutThinking(attempt, own, isRefused), attempt, context)
      if (call === null) return null
      const field = call.dialect === 'responses' ? 'input' : 'messages'
      attempt.warn({ code: 'unsupported_field', field, message: `Thinking that ${target.providerName} refused was left out.` })
      return { ...attempt, call }
    }
    let began = false
    const send = (sent: Attempt): Promise<void> =>
      adapter(sent, context, (frames) => {
        began = true
        return take(frames)
      })
    const sendAgain = async (thrown: unknown): Promise<void> => {
      if (began || given.connection.signal.aborted || !isOfThinking(thrown)) throw thrown
      const left: string[] = []
      const second = await without((proof) => left.push(proof) > 0)
      if (second === null) throw thrown
      context.refusedProofs?.remember(
        target,
        left.filter((proof) => proof !== ''),
      )
      const refusal = await refusalOf(adapter, second, context, take)
      if (refusal !== null) throw refusal
    }
    const known = context.refusedProofs?.find(target) ?? null
    const sent = known === null ? send(attempt) : without(known).then((first) => send(first ?? attempt))
    return sent.catch(sendAgain)
  }

const isOfThinking = (thrown: unknown): boolean => {
  if (!(thrown instanceof GatewayError)) return false
  const { message, metadata } = thrown
  return metadata['provider_code'] === 'invalid_encrypted_content' || SENTENCES.some((sentence) => sentence.test(message))
}

const SENTENCES: readonly RegExp[] = [
  // OpenAI and Azure: "The encrypted content for item rs_… could not be verified." "Encrypted content item_id did not match the target item id."
  /encrypted content\b.{0,200}\b(?:could not be (?:verified|decrypted)|did not match)/i,
  // OpenAI: "Item with id 'rs_…' not found. Items are not persisted when `store` is set to false."
  /item with id 'rs_[^']*' not found/i,
  // Claude, at Anthropic and at Bedrock.
  /invalid `?(?:signature|data)`? in `?(?:redacted_)?thinking`? block/i,
  /thinking`? blocks in the latest assistant message cannot be modified/i,
  // Google: "Corrupted thought signature." "Thought signature is not valid".
  /corrupted thought signature|thought signature is not valid/i,
]
