/** Amounts of US dollars that people set; the same rules apply on the wire, in the operator's file and on the command line. */
import { z } from 'zod'

/** Nano-dollars stay exact integers up to here. */
const DOLLARS_MAX = 1_000_000

export const dollarAmount = z
  .number()
  .max(DOLLARS_MAX)
  // A larger amount has no exact nano-dollars either, but its decimals are not what is wrong with it.
  .refine(
    (amount) => Math.abs(amount) > DOLLARS_MAX || Number.isSafeInteger(Number((amount * 1_000_000_000).toPrecision(15))),
    'Use at most nine decimals.',
  )
