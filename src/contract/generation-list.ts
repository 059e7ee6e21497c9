/** The request log on the wire (docs/contract/management.md#request-log). */
import { z } from 'zod'

import { errorType } from './error-type.ts'
import { cursorText } from './cursor.ts'
import { generation } from './generation.ts'
import { keyHash } from './key-hash.ts'
import { wholeNumber } from './paging.ts'
import { storedText } from './stored-text.ts'
import { timeRangeQuery } from './time-range.ts'

const name = storedText.min(1).max(256).optional()
const usd = z
  .string()
  .regex(/^\d{1,9}(?:\.\d{1,9})?$/, 'Use dollars, such as 0.05.')
  .optional()

/** Filters of the list; each is compared with a value in the record. */
export const generationFilters = {
  ...timeRangeQuery,
  status: z.enum(['ok', 'error', 'cancelled']).optional(),
  error_type: errorType.optional(),
  model: name,
  provider: name.meta({ description: 'The slug of the provider that was asked last.' }),
  preset: name.meta({ description: 'The slug of the preset.' }),
  preset_version: wholeNumber(1, 999_999_999).optional(),
  key: keyHash.optional().meta({ description: 'The hash of the key.' }),
  user_id: name.meta({ description: 'Who made the key.' }),
  session_id: name,
  request_id: name,
  interface: z.enum(['chat', 'responses', 'messages', 'embeddings']).optional(),
  min_cost_usd: usd,
  min_latency_ms: wholeNumber(0, 999_999_999)
    .optional()
    .meta({ description: 'Requests that took at least so long from their beginning to their end.' }),
  has_content: z.enum(['true', 'false']).optional(),
  has_preset: z.enum(['true', 'false']).optional().meta({ description: '`false`: requests that used no preset.' }),
  guardrail: name.meta({ description: 'The id of a guardrail that found something in the request or its answer.' }),
}

export const generationListQuery = {
  ...generationFilters,
  cursor: cursorText.optional(),
  limit: wholeNumber(1, 100).optional().meta({ description: 'How many, at most 100; 50 when absent.' }),
}

const LONG = {
  provider_responses: true,
  removed: true,
  warnings: true,
  pipeline: true,
  settings: true,
  settings_carried: true,
  settings_left_out: true,
  trace: true,
  server_tool_calls: true,
} as const

export const LONG_MEMBERS: ReadonlySet<string> = new Set(Object.keys(LONG))

export const generationRow = generation
  .omit(LONG)
  .extend({
    attempts: z.int().meta({ description: 'How many times a provider was asked.' }),
    has_content: z.boolean().meta({ description: 'The contents are stored, for `GET /generation/content`.' }),
  })
  .meta({ id: 'GenerationRow', description: 'A generation without its long members.' })
