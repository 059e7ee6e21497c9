/** The name of an error on the wire (docs/contract/errors.md). */
import { z } from 'zod'

import { ERROR_TYPES } from '../errors.ts'

export const errorType = z.enum(ERROR_TYPES).meta({
  id: 'ErrorType',
  description: 'What went wrong, the same name on every interface. New names may be added; treat an unknown one by its status.',
})
