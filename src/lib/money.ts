const NANOS_PER_DOLLAR = 1_000_000_000

/** Decimal dollars for the wire, from integer nano-dollars. */
export const dollars = (nanos: number): number => nanos / NANOS_PER_DOLLAR

/** Integer nano-dollars from decimal dollars; a fraction of a nano-dollar is rounded up, in the service's favour. */
export const nanosOf = (dollarAmount: number): number => ceilDecimal(dollarAmount * NANOS_PER_DOLLAR)

/**
 * Nano-dollars for `tokens` at a price in dollars per million tokens (which is the same number in nano-dollars per
 * thousandth of a token). Rounded up to a nano-dollar.
 */
export const tokenCostNanos = (tokens: number, dollarsPerMillion: number): number =>
  tokens === 0 || dollarsPerMillion === 0 ? 0 : ceilDecimal(tokens * dollarsPerMillion * 1000)

/** A product of decimals is off by an ulp or two; 15 digits are what a double holds of a decimal, and leave those out. */
const ceilDecimal = (product: number): number => (isWhole(product) ? product : Math.ceil(Number(product.toPrecision(15))))

/** Most products are whole, and of those below 15 digits nothing is left out. */
const isWhole = (product: number): boolean => Number.isInteger(product) && product < 1e15
