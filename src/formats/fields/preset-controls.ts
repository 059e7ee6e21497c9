/** Members of a preset body that are ours, not an interface's: which fields a request may not change (decision 12). */
import { z } from 'zod'

import { LOCKABLE_FIELDS } from '../preset-fields.ts'

const locked = z
  // A misspelt lock would lock nothing, so the names are checked.
  .array(z.enum(LOCKABLE_FIELDS, 'Not a field that a preset keeps.'))
  .max(LOCKABLE_FIELDS.length)
  .meta({ description: 'Fields in which the preset wins over the request.', examples: [['model', 'provider']] })

const onLocked = z.enum(['keep', 'reject']).meta({
  description: 'A request that sets a locked field: keep (default) ignores its value with a warning, reject answers 400.',
})

const strict = z.boolean().meta({ description: 'What cannot be honoured is refused with 400 instead of left out with a warning.' })

export const presetControlFields = { locked, on_locked: onLocked, strict }
