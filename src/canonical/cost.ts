/** The cost of a generation, in integer nano-dollars (docs/contract/budgets.md#money). */
export interface Cost {
  /** The amount charged to the key: everything that has a price. */
  readonly totalNanos: number
  /** False if the price of some part is unknown. */
  readonly isKnown: boolean
  /** The provider's charge, in total and split into prompt and output; null if no price is known. */
  readonly upstreamNanos: number | null
  readonly upstreamInputNanos: number
  readonly upstreamOutputNanos: number
  /** How much less the prompt costs than without a cache; negative if it was dearer to write than was saved. Null if no price is known. */
  readonly cacheSavedNanos: number | null
  /** The customer's own provider key was used. */
  readonly isByok: boolean
  /** The amount that providers charge to the customer's own provider keys. */
  readonly customersNanos: number
  /** The part of the total for tools that the service ran, and for models that those tools called. Absent if they cost nothing. */
  readonly serverToolNanos?: number
}

export const NO_COST: Cost = {
  totalNanos: 0,
  isKnown: true,
  upstreamNanos: 0,
  upstreamInputNanos: 0,
  upstreamOutputNanos: 0,
  cacheSavedNanos: 0,
  isByok: false,
  customersNanos: 0,
}

/** The vendor says exactly what it charged; the computed cost only says how that divides into prompt and output. */
export const chargedAs = (cost: Cost, chargedNanos: number): Cost => {
  const { upstreamInputNanos: input, upstreamOutputNanos: output } = cost
  const share = input + output === 0 ? 0 : input / (input + output)
  const inputNanos = Math.round(chargedNanos * share)
  return {
    ...cost,
    totalNanos: chargedNanos,
    isKnown: true,
    upstreamNanos: chargedNanos,
    upstreamInputNanos: inputNanos,
    upstreamOutputNanos: chargedNanos - inputNanos,
  }
}

/** With a customer's own provider key the provider charges the customer, and this service charges nothing. */
export const atCustomersCost = (cost: Cost): Cost => ({
  ...cost,
  totalNanos: 0,
  isKnown: true,
  isByok: true,
  customersNanos: cost.upstreamNanos ?? 0,
})

/** Adds two costs. A sum with an unknown part is unknown, but its known parts are still charged. */
export const addedCosts = (first: Cost, second: Cost): Cost => ({
  totalNanos: first.totalNanos + second.totalNanos,
  isKnown: first.isKnown && second.isKnown,
  upstreamNanos: added(first.upstreamNanos, second.upstreamNanos),
  upstreamInputNanos: first.upstreamInputNanos + second.upstreamInputNanos,
  upstreamOutputNanos: first.upstreamOutputNanos + second.upstreamOutputNanos,
  cacheSavedNanos: added(first.cacheSavedNanos, second.cacheSavedNanos),
  isByok: first.isByok && second.isByok,
  customersNanos: first.customersNanos + second.customersNanos,
})

const added = (first: number | null, second: number | null): number | null => (first === null || second === null ? null : first + second)
