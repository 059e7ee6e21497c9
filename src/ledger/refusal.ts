/** The errors for a request that a budget refuses (docs/contract/budgets.md#refusals). */
import { GatewayError } from '../errors.ts'
import { dollars } from '../lib/money.ts'
import { windowEnd } from '../storage/usage/usage-windows.ts'
import type { Refusal } from './decide.ts'
import type { Interval, Scope } from './scope.ts'

/** `atMs`: the instant of admission. `retryAfterSeconds`: used for a budget that is full only for now. */
export const refusalError = (refusal: Refusal, atMs: number, retryAfterSeconds: number): GatewayError => {
  const { scope } = refusal.bound
  const resetsAt = windowEnd(scope.interval, atMs)
  const figures = `Used ${usd(refusal.spentNanos)} of ${usd(scope.limitNanos)}; ${resetsAt === null ? 'it does not reset' : `resets at ${resetsAt}`}.`
  const about = {
    ...(scope.kind === 'credits' ? {} : { scope: scope.kind }),
    limit_usd: dollars(scope.limitNanos),
    spend_usd: dollars(refusal.spentNanos),
    resets_at: resetsAt,
    ...(scope.guardrailId === null ? {} : { guardrail_id: scope.guardrailId }),
    ...(scope.budgetId === null ? {} : { budget_id: scope.budgetId }),
  }
  const name = nameOf(scope)
  if (refusal.cause === 'busy') {
    return new GatewayError(
      'payment_required',
      `Running requests fill what is left of the ${name}. Try again in ${retryAfterSeconds} s. ${figures}`,
      {
        retryAfterSeconds,
        metadata: {
          limit_source: 'service_in_flight_budget',
          reason: 'in_flight_budget_exhausted',
          ...about,
          remedy_hint: 'Wait for running requests to end, or send fewer at once.',
        },
      },
    )
  }
  const why = WHY[refusal.cause](name, usd(refusal.estimateNanos))
  const tooLarge = refusal.cause === 'spent' ? {} : { reason: 'weight_exceeds_budget', estimate_usd: dollars(refusal.estimateNanos) }
  const metadata = { limit_source: SOURCES[scope.kind], ...tooLarge, ...about, remedy_hint: remedy(scope, refusal.cause, resetsAt) }
  return new GatewayError(scope.kind === 'credits' ? 'payment_required' : 'permission_denied', `${why} ${figures}`, { metadata })
}

/** True if a budget, a limit or the credit refused the request. A provider's own lack of credit does not count. */
export const isBudgetRefusal = (thrown: unknown): thrown is GatewayError =>
  thrown instanceof GatewayError && typeof thrown.metadata['limit_source'] === 'string'

/** True if money is lacking: the caller's, or the operator's at a provider. */
export const isUnpaid = (thrown: unknown): thrown is GatewayError =>
  thrown instanceof GatewayError && (thrown.type === 'payment_required' || isBudgetRefusal(thrown))

const WHY: Readonly<Record<'spent' | 'too-large' | 'weight', (name: string, estimate: string) => string>> = {
  spent: (name) => `The ${name} is exhausted.`,
  'too-large': (name, estimate) => `This request may cost up to ${estimate}, which is more than is left of the ${name}.`,
  weight: (_, estimate) => `This request may cost up to ${estimate}, which is more than requests may hold of the credit at one time.`,
}

const SOURCES: Readonly<Record<Scope['kind'], string>> = {
  workspace_default_member: 'service_guardrail_budget',
  workspace_default_key: 'service_guardrail_budget',
  member: 'service_guardrail_budget',
  api_key: 'service_guardrail_budget',
  workspace: 'service_workspace_budget',
  key_limit: 'service_key_limit',
  credits: 'service_credits',
}

const ADJECTIVES: Readonly<Record<NonNullable<Interval>, string>> = { daily: 'daily ', weekly: 'weekly ', monthly: 'monthly ' }

const nameOf = ({ kind, interval }: Scope): string => {
  const adjective = interval === null ? '' : ADJECTIVES[interval]
  if (kind === 'credits') return 'credit of this workspace'
  if (kind === 'key_limit') return `${adjective}limit of this key`
  if (kind === 'workspace') return `${adjective}budget of this workspace`
  return `${adjective}guardrail budget of this ${kind === 'member' || kind === 'workspace_default_member' ? 'member' : 'key'}`
}

const remedy = ({ kind }: Scope, cause: 'spent' | 'too-large' | 'weight', resetsAt: string | null): string => {
  if (kind === 'credits') return cause === 'spent' ? 'Add credit.' : 'Lower max_tokens, shorten the prompt, or add credit.'
  const raise =
    kind === 'key_limit' ? 'raise the limit of the key' : `raise the budget of the ${kind === 'workspace' ? 'workspace' : 'guardrail'}`
  if (cause === 'spent') return resetsAt === null ? `${capital(raise)}.` : `Wait for the reset, or ${raise}.`
  return `Lower max_tokens, shorten the prompt, or ${raise}.`
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** At least two decimals; more if the amount has more. */
const usd = (nanos: number): string => {
  const [whole = '0', decimals = ''] = (Math.abs(nanos) / 1e9).toFixed(9).replace(/0+$/, '').split('.')
  return `${nanos < 0 ? '-' : ''}$${whole}.${decimals.padEnd(2, '0')}`
}
