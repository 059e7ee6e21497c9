/** Amounts of US dollars that people set; the same rules apply on the wire, in the operator's file and on the command line. */
import { z } from 'zod'

/** Bounded so that nano-dollars stay exact integers. */
export const dollarAmount = z
  .number()
  .max(1_000_000)
  .refine((amount) => Number.isSafeInteger(Number((amount * 1_000_000_000).toPrecision(15))), 'Use at most nine decimals.')
