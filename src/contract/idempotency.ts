import { z } from 'zod'

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'Use 1 to 255 printable ASCII characters without spaces.')
  .meta({ description: 'A repetition with the same key and body gets the first answer again, for 24 hours.' })

/** Headers of an operation that creates something. */
export const onceHeaders = { 'Idempotency-Key': idempotencyKey.optional() }
