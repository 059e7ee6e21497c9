const NANOS_PER_DOLLAR = 1_000_000_000

/** Converts integer nano-dollars to decimal dollars for the wire. */
export const dollars = (nanos: number): number => nanos / NANOS_PER_DOLLAR

/** Converts decimal dollars to integer nano-dollars; a fraction of a nano-dollar is rounded up, in the service's favour. */
export const nanosOf = (dollarAmount: number): number => ceilDecimal(dollarAmount * NANOS_PER_DOLLAR)

/**
 * Nano-dollars for `tokens` at a price in dollars per million tokens (the same number as nano-dollars per
 * thousandth of a token). Rounded up to a nano-dollar.
 */
export const tokenCostNanos = (tokens: number, dollarsPerMillion: number): number =>
  tokens === 0 || dollarsPerMillion === 0 ? 0 : ceilDecimal(tokens * dollarsPerMillion * 1000)

/** A product of decimals is off by an ulp or two; rounding to the 15 digits that a double holds of a decimal removes that error. */
const ceilDecimal = (product: number): number => (isWhole(product) ? product : Math.ceil(Number(product.toPrecision(15))))

/** Most products are whole, and rounding to 15 digits does not change those below 1e15. */
const isWhole = (product: number): boolean => Number.isInteger(product) && product < 1e15
