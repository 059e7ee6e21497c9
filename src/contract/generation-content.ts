/** The contents of a request and of its answer, on the wire. */
import { z } from 'zod'

import { CLIENT_DIALECTS } from '../canonical/call.ts'
import { jsonValue } from './json-value.ts'

const free = z.record(z.string(), jsonValue)

export const generationContent = z
  .object({
    id: z.string(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().meta({ description: 'When it is deleted.' }),
    workspace_id: z.string(),
    interface: z.enum(CLIENT_DIALECTS),
    request: free.nullable().meta({
      description:
        'The body as the client sent it, or as a guardrail left it if it replaced something, without the credentials of its tools; null if it is too large.',
    }),
    request_bytes: z.int(),
    request_cut: z.boolean().meta({ description: 'It has more than 2 MiB: `request_beginning` has the beginning of its text.' }),
    request_beginning: z.string().optional(),
    answer: free
      .nullable()
      .meta({ description: 'The answer in the dialect of the client, whole also where it was streamed; null where there is no answer.' }),
    answer_cut: z.boolean().meta({ description: 'It is longer than a million characters; the rest is left out.' }),
    error: z
      .object({
        status: z.int(),
        type: z.string(),
        message: z.string(),
        provider_name: z.string().nullable(),
        raw: jsonValue.meta({ description: "The provider's own words, without credentials." }),
        previous_errors: z.array(jsonValue),
      })
      .nullable(),
  })
  .meta({ id: 'GenerationContent', description: 'What was asked and answered.' })

/** The part of it from which a request can be made again. */
export const askedAndAnswered = generationContent.pick({ interface: true, request: true, answer: true })
