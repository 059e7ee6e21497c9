/** Sends one question to a provider, through the same adapter and rules as a request, and reports the result. */
import type { ModelEvent } from '../canonical/event.ts'
import type { Warning } from '../canonical/warning.ts'
import { asGatewayError, type GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { isObject, jsonIn } from '../lib/json/json.ts'
import { costOf } from '../models/price.ts'
import { NO_USAGE } from '../canonical/usage.ts'
import type { Target } from '../providers/provider.ts'
import { providerRegistry } from '../providers/registry.ts'
import { bodyText, type Upstream } from '../providers/transport/upstream.ts'
import { recordingExchange } from './exchange-recorder.ts'
import type { Question } from './live-plan.ts'

export interface Finding {
  readonly question: Question
  /** `odd`: answered, but not as asked. `unasked`: skipped. */
  readonly outcome: 'answered' | 'odd' | 'refused' | 'failed' | 'unasked'
  /** The reason in one sentence; if the provider refused, its own message. */
  readonly says: string | null
  /** Our rule that a refusal contradicts. */
  readonly rule: string | null
  readonly costNanos: number
  readonly files: readonly string[]
}

export interface AskParts {
  readonly upstream: Upstream
  readonly clock: Clock
  /** The directory in which exchanges are stored; null means that they are not stored. */
  readonly recordTo: string | null
}

export const askProvider = async (question: Question, { upstream, clock, recordTo }: AskParts): Promise<Finding> => {
  const unasked = { question, rule: null, costNanos: 0, files: [] }
  if (question.passedOver !== null) return { ...unasked, outcome: 'unasked', says: question.passedOver }
  const { call, dialect } = question
  const target = targetOf(question)
  const exchange = recordingExchange(upstream)
  const events: ModelEvent[] = []
  const warnings: Warning[] = []
  let sent = ''
  let failure: GatewayError | null = null
  const sending: Upstream = {
    post(request) {
      sent = bodyText(request.body)
      return exchange.upstream.post(request)
    },
  }
  try {
    await providerRegistry.adapterFor(dialect)(
      { call, target, number: 0, warn: (warning) => void warnings.push(warning), connection: new AbortController() },
      { upstream: sending, clock },
      (frames) => {
        for (const frame of frames) events.push(...frame.events)
        return undefined
      },
    )
  } catch (thrown) {
    failure = asGatewayError(thrown)
  }
  const usage = events.findLast((event) => event.type === 'usage')
  const costNanos = costOf(usage?.type === 'usage' ? usage.usage : NO_USAGE, question.endpoint.prices).totalNanos
  const files = recordTo === null ? [] : await exchange.write(recordTo, dialect, fileName(question), target.apiKey)
  if (failure !== null) {
    const refused = isRefusal(failure)
    const rule = refused ? contradictedRule(failure, sent, warnings, question) : null
    return { question, outcome: refused ? 'refused' : 'failed', says: failure.message, rule, costNanos, files }
  }
  const odd = lacking(question, events)
  return { question, outcome: odd === null ? 'answered' : 'odd', says: odd, rule: null, costNanos, files }
}

const targetOf = ({ model, endpoint }: Question): Target => ({
  provider: endpoint.provider.slug,
  providerName: endpoint.provider.name,
  baseUrl: endpoint.provider.baseUrl,
  apiKey: endpoint.provider.apiKeys[0] ?? null,
  modelId: model.id,
  upstreamModel: endpoint.upstreamModel,
  maxCompletionTokens: endpoint.maxCompletionTokens,
})

/** True if the request is at fault, rather than the provider's state or its key. */
const isRefusal = ({ status, type }: GatewayError): boolean =>
  status === 400 || status === 404 || status === 413 || status === 422 || type === 'unprocessable'

/** The field that the vendor's message names and that our rules sent. */
const contradictedRule = (
  { message }: GatewayError,
  sent: string,
  warnings: readonly Warning[],
  { dialect, endpoint }: Question,
): string => {
  const { provider, upstreamModel } = endpoint
  const named = membersOf(sent).filter((member) => new RegExp(`\\b${member}\\b`).test(message))
  const who = `${provider.slug} (${dialect})`
  if (named.length > 0) return `${who} accepts ${named.join(', ')} for ${upstreamModel}`
  const reported = warnings.map(({ field }) => field)
  return `the message names no field of the request; sent were ${membersOf(sent).join(', ')}${reported.length === 0 ? '' : `, left out or changed ${reported.join(', ')}`}`
}

/** Names of the members of a body and of the objects in it, the longest first, without the contents of conversations. */
const membersOf = (sent: string): readonly string[] => {
  const names = new Set<string>()
  const walk = (value: unknown, depth: number): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, depth)
    if (!isObject(value)) return
    for (const [name, member] of Object.entries(value)) {
      if (/^[A-Za-z_]{3,40}$/.test(name)) names.add(name)
      if (depth < 3 && name !== 'messages' && name !== 'input' && name !== 'contents' && name !== 'properties') walk(member, depth + 1)
    }
  }
  // Nothing was sent, or it is not JSON: there is no member to name.
  walk(jsonIn(sent), 0)
  return [...names].sort((a, b) => b.length - a.length)
}

/** The part that the answer should contain but does not; null if the answer is as asked. */
const lacking = ({ probe }: Question, events: readonly ModelEvent[]): string | null => {
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('')
  const calls = events.filter((event) => event.type === 'tool-call').length
  const isCut = events.some((event) => event.type === 'finish' && event.reason === 'length')
  if (!events.some((event) => event.type === 'finish')) return 'the answer had no finish reason'
  if (!events.some((event) => event.type === 'usage')) return 'the answer had no usage'
  if (isCut) return null
  if (probe === 'tools') return calls > 0 ? null : 'the model called no tool'
  if (probe === 'json') return isColour(text) ? null : 'the answer does not follow the schema'
  return text.trim() === '' ? 'the answer has no text' : null
}

const isColour = (text: string): boolean => {
  const value = jsonIn(text)
  return isObject(value) && typeof value['colour'] === 'string'
}

const fileName = ({ endpoint, probe, call }: Question): string =>
  `${endpoint.provider.slug}-${endpoint.upstreamModel}-${probe}${call.stream ? '' : '-whole'}`.toLowerCase().replace(/[^a-z0-9.]+/g, '-')
