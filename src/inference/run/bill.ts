/** The usage and the cost of one inference, computed from its log. Nothing is stored here. */
import { askedWork, asksForHours } from '../../canonical/asked-work.ts'
import { addedCosts, atCustomersCost, chargedAs, NO_COST, type Cost } from '../../canonical/cost.ts'
import { inputSizeOf } from '../../canonical/input-size.ts'
import { addedUsage, inputTokens, keptForHours, NO_USAGE, outputTokens, type Usage, withEstimates } from '../../canonical/usage.ts'
import type { GatewayError } from '../../errors.ts'
import type { PriceEntry } from '../../models/catalogue-schema.ts'
import type { ModelEndpoint } from '../../models/model.ts'
import { costOf } from '../../models/price.ts'
import { endpointThatServed, tierNamed } from '../../models/served-endpoint.ts'
import { vendorOf } from '../../providers/vendors/vendors.ts'
import type { Credential } from '../../routing/credentials.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { AttemptOutput } from './answer-so-far.ts'
import type { Planned } from '../request.ts'
import { CHARACTERS_PER_TOKEN } from './estimated-tokens.ts'
import { isUnheldTools } from '../unheld-tools.ts'

export interface Bill {
  readonly usage: Usage
  readonly cost: Cost
  /** True if neither a known price nor the provider itself gave the cost, so that it was computed with a price of the operator's choice. */
  readonly costIsAssumed: boolean
}

/** The operator's choices about billing. */
export interface BillTerms {
  /** Prices to use if those of the endpoint are unknown and a budget has to be enforced. */
  readonly assumedPrices: PriceEntry | null
  /** An answer without a token that failed, or ended without a reason, costs nothing even if the provider counted. */
  readonly emptyIsFree: boolean
}

/** The facts of a log on which the usage of an answer depends. */
interface Answer {
  readonly request: Pick<Planned, 'call' | 'apiType'>
  readonly said: Pick<AttemptOutput, 'reportedUsage' | 'characters' | 'uncountedCharacters' | 'finishReason'>
  readonly inputTokensEstimate: number
  /** True if the client left while a provider was working on the answer. */
  readonly abandoned: boolean
  readonly error: GatewayError | null
}

/** The further facts on which the bill depends. */
interface BilledAnswer extends Answer {
  readonly current:
    | { readonly planned: Pick<PlannedAttempt, 'model' | 'endpoint'>; readonly credential: Pick<Credential, 'isByok'> }
    | undefined
  readonly cancelled: boolean
  readonly ended: boolean
}

export const billOf = (answer: BilledAnswer, terms: BillTerms): Bill => {
  const counted = countedUsage(answer)
  const { current } = answer
  if (current === undefined) return { usage: counted, cost: NO_COST, costIsAssumed: false }
  const { servedTier, prices: known } = service(current.planned, answer)
  const told = counted === NO_USAGE ? counted : { ...counted, servedTier }
  const charged = chargeOf(current.planned.endpoint, told)
  const usage = told.unsplitWrites > 0 && charged === null && asksForHours(answer.request.call.body) ? keptForHours(told) : told
  const costIsAssumed = terms.assumedPrices !== null && known === null && usage.reportedCostNanos === null
  if (isFree(answer, usage, terms)) return { usage, cost: NO_COST, costIsAssumed }
  const prices = costIsAssumed ? terms.assumedPrices : known
  const { body } = answer.request.call
  const computed = costOf(usage, prices, {
    inputImages: prices?.image === undefined ? 0 : inputSizeOf(body).images,
    containerGigabytes: usage.containers === 0 ? 0 : askedWork(body).containerGigabytes,
  })
  const cost = charged === null ? computed : chargedAs(computed, charged)
  return { usage, cost: current.credential.isByok ? atCustomersCost(cost) : cost, costIsAssumed }
}

/**
 * Returns what a vendor says that it charged, if it is one whose word is exact. That is nearer than any list of prices, but prices of the operator's
 * own are deliberate. Zero may mean that nothing was counted, and an answer that was cut cost more (decisions/0146).
 */
const chargeOf = ({ provider, pricesFrom }: ModelEndpoint, { reportedCostNanos, estimated }: Usage): number | null =>
  reportedCostNanos !== null &&
  reportedCostNanos > 0 &&
  !estimated &&
  pricesFrom?.from !== 'operator' &&
  vendorOf(provider.slug).reportsCharge
    ? reportedCostNanos
    : null

/** The bill of two turns of one answer. */
export const joinedBills = (first: Bill, second: Bill): Bill => ({
  usage: addedUsage(first.usage, second.usage),
  cost: addedCosts(first.cost, second.cost),
  costIsAssumed: first.costIsAssumed || second.costIsAssumed,
})

/** Fees of tools are the service's price, whoever owns the key with which the model was called. */
export const withFees = (bill: Bill, feeNanos: number): Bill => ({
  ...bill,
  cost: {
    ...bill.cost,
    totalNanos: bill.cost.totalNanos + feeNanos,
    serverToolNanos: (bill.cost.serverToolNanos ?? 0) + feeNanos,
  },
})

/** Another model was asked for this answer: its cost is the price of a tool, whoever was charged for it. */
export const withInner = (bill: Bill, { totalNanos, isKnown, customersNanos }: Cost): Bill => {
  const { cost, ...rest } = withFees(bill, totalNanos)
  return { ...rest, cost: { ...cost, isKnown: cost.isKnown && isKnown, customersNanos: cost.customersNanos + customersNanos } }
}

/**
 * A failed answer costs what the provider counted, or what was said before it failed; without either it is free
 * (docs/contract/budgets.md#missing-usage).
 */
const isFree = ({ request, said, error, cancelled, ended }: BilledAnswer, usage: Usage, { emptyIsFree }: BillTerms): boolean => {
  if (stoppedTools(error, usage)) return false
  if (error !== null && inputTokens(usage) + outputTokens(usage) === 0) return true
  // Embeddings have no output tokens and no finish reason, and are an answer all the same.
  const failed = error !== null || (said.finishReason === null && request.apiType === 'completions')
  return emptyIsFree && failed && !cancelled && ended && outputTokens(usage) === 0
}

/** The provider's count; if it sent none, or an impossible one, our estimate, marked as such (docs/contract/budgets.md#missing-usage). */
export const countedUsage = (answer: Answer): Usage => {
  const { request, said, abandoned, error } = answer
  const { reportedUsage, finishReason } = said
  const spoke = said.characters > 0
  const known = reportedUsage ?? NO_USAGE
  const input = inputTokens(known)
  const output = outputTokens(known)
  // Embeddings are an answer without output tokens.
  const isVectors = reportedUsage !== null && request.apiType === 'embeddings'
  const hasContent = spoke || output > 0 || isVectors || stoppedTools(error, known)
  const answered = hasContent || finishReason !== null
  // If the client left, the provider has still read the prompt; a prompt on which the provider failed counts as unread.
  const lacksInput = (answered && known.unreportedInput) || (input === 0 && hasContent) || (input + output === 0 && abandoned)
  // An answer that was cut off may have continued after the provider's last count.
  const isBehind = finishReason === null && said.uncountedCharacters > 0
  const lacksOutput = spoke && (known.unreportedOutput || output === 0 || isBehind)
  return withEstimates(known, {
    input: lacksInput ? answer.inputTokensEstimate : null,
    output: lacksOutput ? estimatedOutputTokens(answer) : null,
  })
}

/** The answer was stopped here for what the provider's own tools had done, which may be all of it and did not fail. */
const stoppedTools = (error: GatewayError | null, { webSearches, fileSearches, containers, drawn }: Usage): boolean =>
  error !== null && isUnheldTools(error) && webSearches + fileSearches + containers + drawn > 0

/** If the request asks for several answers, the service reads only the first, so the estimate is multiplied. */
const estimatedOutputTokens = ({ said, request }: Answer): number =>
  Math.ceil(said.characters / CHARACTERS_PER_TOKEN) * askedWork(request.call.body).answers

/** The tier that answered, and its prices. The tier that the answer names counts; if it names none, the request's. */
const service = (
  { model, endpoint }: Pick<PlannedAttempt, 'model' | 'endpoint'>,
  { said, request }: Answer,
): { readonly servedTier: string | null; readonly prices: PriceEntry | null } => {
  const reported = said.reportedUsage?.servedTier ?? null
  // Anthropic's value `standard` names the capacity and says nothing about the speed.
  const isSpeedOpen = (reported === null || reported === 'standard') && request.call.body.value('speed') === 'fast'
  const { serviceTier, prices } = endpointThatServed(model, endpoint, isSpeedOpen ? 'fast' : reported)
  const namedTier = reported === null ? null : tierNamed(reported)
  return { servedTier: isSpeedOpen ? (serviceTier ?? namedTier) : (namedTier ?? serviceTier), prices }
}
