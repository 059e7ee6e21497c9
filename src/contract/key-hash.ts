/** The id of a key on the wire. */
import { z } from 'zod'

export const keyHash = z
  .string()
  .regex(/^[a-f0-9]{64}$/, 'Use the 64 hex digits of `hash`.')
  .meta({ description: 'Id of a key; it says nothing of the key itself.' })
