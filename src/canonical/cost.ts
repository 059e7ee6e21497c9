/** The cost of a generation, in integer nano-dollars (docs/contract/budgets.md#money). */
export interface Cost {
  /** Charged to the key: all of it that has a price. */
  readonly totalNanos: number
  /** False where a part of it has none. */
  readonly isKnown: boolean
  /** The provider's charge, in all and split at the prompt; null where no price is known. */
  readonly upstreamNanos: number | null
  readonly upstreamInputNanos: number
  readonly upstreamOutputNanos: number
  /** The customer's own provider key was used. */
  readonly isByok: boolean
  /** Charged by providers to keys of the customer's own. */
  readonly customersNanos: number
  /** The part of the total for tools that the service ran, and for models that these asked. Absent where they cost nothing. */
  readonly serverToolNanos?: number
}

export const NO_COST: Cost = {
  totalNanos: 0,
  isKnown: true,
  upstreamNanos: 0,
  upstreamInputNanos: 0,
  upstreamOutputNanos: 0,
  isByok: false,
  customersNanos: 0,
}

/** With a customer's own provider key the provider charges the customer, and this service charges nothing. */
export const atCustomersCost = (cost: Cost): Cost => ({
  ...cost,
  totalNanos: 0,
  isKnown: true,
  isByok: true,
  customersNanos: cost.upstreamNanos ?? 0,
})

/** A sum with an unknown part is unknown, and the rest of it is charged all the same. */
export const addedCosts = (first: Cost, second: Cost): Cost => ({
  totalNanos: first.totalNanos + second.totalNanos,
  isKnown: first.isKnown && second.isKnown,
  upstreamNanos: added(first.upstreamNanos, second.upstreamNanos),
  upstreamInputNanos: first.upstreamInputNanos + second.upstreamInputNanos,
  upstreamOutputNanos: first.upstreamOutputNanos + second.upstreamOutputNanos,
  isByok: first.isByok && second.isByok,
  customersNanos: first.customersNanos + second.customersNanos,
})

const added = (first: number | null, second: number | null): number | null => (first === null || second === null ? null : first + second)
