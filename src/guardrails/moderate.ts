/** Calls the moderation endpoints of a caller's guardrails before anything is sent to a provider (docs/contract/errors.md#moderation). */
import type { Effect } from '../canonical/effect.ts'
import { GatewayError } from '../errors.ts'
import { cutText } from '../lib/text/cut-text.ts'
import { signatureHeader } from '../lib/json/body-signature.ts'
import type { Clock } from '../lib/clock.ts'
import { excerpt } from '../lib/text/excerpt.ts'
import { isObject, textsIn } from '../lib/json/json.ts'
import type { SafeFetch } from '../providers/transport/safe-fetch.ts'
import type { Moderation } from './effective.ts'
import type { ModerationEndpoint, ModerationSettings } from './moderation-settings.ts'

export interface ModerationInput {
  readonly texts: readonly string[]
  /** The requested model. */
  readonly model: string
}

/** Throws `content_policy_violation` for flagged content, `provider_overloaded` if there is no verdict and one is required. */
export type Moderate = (moderations: readonly Moderation[], input: ModerationInput, effects: Effect[]) => Promise<void>

interface Verdict {
  readonly reasons: readonly string[]
  /** The text that was flagged. */
  readonly text: string
}

export const createModerate =
  (settings: ModerationSettings, post: SafeFetch, clock: Clock): Moderate =>
  async (moderations, input, effects) => {
    // All run in parallel, since each waits for another machine.
    const outcomes = await Promise.all(moderations.map((moderation) => judge(moderation, input, { settings, post, clock })))
    for (const [at, outcome] of outcomes.entries()) {
      const moderation = moderations[at]
      if (moderation === undefined || outcome === null) continue
      if (outcome instanceof GatewayError) throw outcome
      const blocks = moderation.action === 'block'
      effects.push(effectOf(moderation, outcome, blocks))
      if (!blocks) continue
      throw new GatewayError('content_policy_violation', `Request blocked by moderation: ${outcome.reasons.join(', ')}`, {
        metadata: {
          reasons: outcome.reasons,
          flagged_input: excerpt(outcome.text, FLAGGED_MAX),
          provider_name: settings.endpoints[moderation.endpoint]?.name ?? moderation.endpoint,
          model_slug: input.model,
        },
      })
    }
  }

const FLAGGED_MAX = 100
const ANSWER_MAX_BYTES = 1024 * 1024
/** A longer text cannot be judged as a whole. */
const INPUT_MAX = 1_000_000
const PIECE_MAX = 30_000
/** If an endpoint judges fewer texts than it was given, it is asked about the rest, up to this many rounds. */
const ROUNDS_MAX = 16

/** Returns null if nothing was flagged, or if nothing was judged and that is allowed. */
const judge = async (
  { endpoint: name, origin }: Moderation,
  input: ModerationInput,
  { settings, post, clock }: { settings: ModerationSettings; post: SafeFetch; clock: Clock },
): Promise<Verdict | GatewayError | null> => {
  const endpoint = Object.hasOwn(settings.endpoints, name) ? settings.endpoints[name] : undefined
  if (endpoint === undefined) {
    return new GatewayError(
      'provider_overloaded',
      `The moderation endpoint "${name}" of this key's guardrail is not configured, so the request was not sent.`,
    )
  }
  try {
    const texts = piecesOf(input.texts)
    return texts.length === 0 ? null : await ask(endpoint, texts, input.model, { post, clock })
  } catch (thrown) {
    if (endpoint.on_failure === 'allow' && origin !== null) return null
    return new GatewayError(
      'provider_overloaded',
      `The moderation endpoint "${name}" gave no verdict, so the request was not sent. Try again.`,
      {
        cause: thrown,
      },
    )
  }
}

const piecesOf = (texts: readonly string[]): readonly string[] => {
  if (texts.reduce((sum, { length }) => sum + length, 0) > INPUT_MAX) throw new Error('The input is too long to be moderated.')
  return texts.flatMap((text) => [...cut(text)])
}

function* cut(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const piece = cutText(text.slice(at, at + PIECE_MAX + 1), PIECE_MAX)
    yield piece
    at += piece.length
  }
}

const ask = async (
  endpoint: ModerationEndpoint,
  texts: readonly string[],
  model: string,
  { post, clock }: { post: SafeFetch; clock: Clock },
): Promise<Verdict | null> => {
  let left = texts
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const body = JSON.stringify(
      endpoint.kind === 'openai' ? { model: endpoint.model, input: left } : { type: 'moderation', model, input: left },
    )
    const { status, text } = await post({
      url: endpoint.url,
      headers: { 'content-type': 'application/json', ...ownHeaders(endpoint, body, clock.now()) },
      body,
      timeoutMs: endpoint.timeout * 1000,
      maxBytes: ANSWER_MAX_BYTES,
    })
    if (status !== 200) throw new Error(`The moderation endpoint answered ${status}.`)
    const answer: unknown = JSON.parse(text)
    if (!isObject(answer)) throw new Error('The moderation endpoint answered no object.')
    if (endpoint.kind !== 'openai') return webhookVerdict(answer, left)
    const { verdict, judged } = openaiVerdict(answer, left)
    if (verdict !== null || judged >= left.length) return verdict
    // A text without a verdict of its own must not pass.
    left = left.slice(judged)
  }
  throw new Error('The moderation endpoint judged too few texts.')
}

const ownHeaders = (endpoint: ModerationEndpoint, body: string, nowMs: number): Readonly<Record<string, string>> => {
  if (endpoint.kind === 'openai') return endpoint.api_key === undefined ? {} : { authorization: `Bearer ${endpoint.api_key}` }
  if (endpoint.secret === undefined) throw new Error('A webhook without a secret is not asked.')
  return signatureHeader(endpoint.secret, body, nowMs)
}

const openaiVerdict = (
  answer: Readonly<Record<string, unknown>>,
  texts: readonly string[],
): { readonly verdict: Verdict | null; readonly judged: number } => {
  const results: unknown = answer['results']
  if (!Array.isArray(results) || results.length === 0) throw new Error('The moderation endpoint answered no results.')
  for (const [at, result] of results.entries()) {
    if (!isObject(result) || typeof result['flagged'] !== 'boolean') throw new Error('The moderation endpoint answered no verdict.')
    if (!result['flagged']) continue
    const categories = isObject(result['categories']) ? result['categories'] : {}
    const reasons = Object.keys(categories).filter((category) => categories[category] === true)
    return { verdict: { reasons: reasons.length === 0 ? ['flagged'] : reasons, text: texts[at] ?? '' }, judged: at + 1 }
  }
  return { verdict: null, judged: results.length }
}

const webhookVerdict = (answer: Readonly<Record<string, unknown>>, texts: readonly string[]): Verdict | null => {
  const { flagged, reasons, flagged_input: reported } = answer
  if (typeof flagged !== 'boolean') throw new Error('The webhook answered no verdict.')
  if (!flagged) return null
  const given = textsIn(reasons).slice(0, 20)
  return { reasons: given.length === 0 ? ['flagged'] : given, text: typeof reported === 'string' ? reported : (texts.at(-1) ?? '') }
}

const effectOf = ({ origin, endpoint }: Moderation, { reasons }: Verdict, blocks: boolean): Effect => ({
  ...(origin === null
    ? { type: 'plugin', name: 'moderation', cost_usd: 0 }
    : { type: 'guardrail', name: 'moderation', guardrail_id: origin.guardrailId, guardrail_scope: origin.scope }),
  summary: `${blocks ? 'Blocked' : 'Flagged'}: moderation flagged the input (${reasons.length} reason${reasons.length === 1 ? '' : 's'})`,
  data: { action: blocks ? 'blocked' : 'flagged', detected: true, engines: [endpoint], patterns: [...reasons] },
})
