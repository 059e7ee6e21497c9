/** Trials of guardrails on a text, on the wire (docs/contract/guardrails.md#tests). */
import { z } from 'zod'

import { FILTER_ACTIONS, guardrailId, updateGuardrailBody } from './guardrail.ts'
import { keyHash } from './key-hash.ts'
import { jsonValue } from './json-value.ts'

const TEXT_MAX = 1_000_000
const MESSAGES_MAX = 1000

const triedRules = {
  guardrail: updateGuardrailBody
    .optional()
    .meta({ description: 'A draft: settings over those of guardrail_id, or of a new guardrail. It is not saved.' }),
  guardrail_id: guardrailId.optional(),
  as_key: keyHash
    .optional()
    .meta({ description: 'With everything that holds for this key; the tested guardrail as if it were assigned to it.' }),
}

export type TriedRules = z.output<z.ZodObject<typeof triedRules>>

const namesRules = ({ guardrail, guardrail_id, as_key }: TriedRules): boolean =>
  guardrail !== undefined || guardrail_id !== undefined || as_key !== undefined

const NAME_RULES = { message: 'Name what to test: guardrail, guardrail_id or as_key.' }

export const guardrailTestBody = z
  .strictObject({
    ...triedRules,
    side: z.enum(['input', 'output']).default('input'),
    text: z.string().max(TEXT_MAX).optional().meta({ description: 'Said by the user, or, on the output side, by the model.' }),
    messages: z
      .array(z.record(z.string(), jsonValue))
      .min(1)
      .max(MESSAGES_MAX)
      .optional()
      .meta({ description: 'Messages of Chat Completions, instead of text; on the input side only.' }),
  })
  .refine(namesRules, NAME_RULES)
  .refine(({ text, messages }) => (text === undefined) !== (messages === undefined), { message: 'Send either text or messages.' })
  .refine(({ side, messages }) => side === 'input' || messages === undefined, {
    path: ['messages'],
    message: 'The output side takes text.',
  })
  .meta({
    id: 'GuardrailTestBody',
    examples: [
      {
        guardrail: { content_filter_builtins: [{ slug: 'email', action: 'redact' }] },
        as_key: 'b8b1c3763133866e30b52d6bc35def2d84e10a17d44f69fe3d9b5f0bc4564702',
        text: 'Write to ada@example.com, please.',
      },
    ],
  })

const place = z.int().min(0)

export const guardrailTest = z
  .object({
    stages: z.array(
      z.object({
        guardrail: z.string().meta({ description: 'Id of the guardrail that asks for this filter; `draft` for one that is not saved.' }),
        guardrail_scope: z.enum(['api-key', 'member', 'workspace']),
        filter: z
          .string()
          .meta({ description: 'Slug of a built-in filter, or a pattern between slashes.', examples: ['email', '/ACME-\\d+/'] }),
        action: z.enum(FILTER_ACTIONS),
        matches: z.array(
          z.object({
            start: place.meta({ description: 'In UTF-16 code units of the text; `end` is excluded.' }),
            end: place,
            label: z.string(),
            message: place.meta({ description: 'Index of the message; 0 for text.' }),
            part: place.meta({ description: 'Which text of the message, where it has several parts.' }),
          }),
        ),
        ms: z.number(),
      }),
    ),
    outcome: z.enum(['passed', 'flagged', 'redacted', 'blocked']),
    text_after: z
      .string()
      .nullable()
      .meta({ description: 'What goes on, of messages their texts joined by a blank line; null where it is blocked.' }),
    messages_after: z.array(jsonValue).nullable().meta({ description: 'What goes on of messages; null for text.' }),
    error: z
      .object({ message: z.string(), patterns: z.array(z.string()) })
      .nullable()
      .meta({ description: 'What the client of a real request reads.' }),
    moderation_not_asked: z.array(z.string()).meta({ description: 'Moderation endpoints that a real request is shown to.' }),
  })
  .meta({ id: 'GuardrailTest' })

/** The maximum number of recorded requests that one trial examines. */
const TRIED_REQUESTS_MAX = 200

export const guardrailRecordedTestBody = z
  .strictObject({
    ...triedRules,
    limit: z
      .int()
      .min(1)
      .max(TRIED_REQUESTS_MAX)
      .default(TRIED_REQUESTS_MAX)
      .meta({ description: 'How many of the newest requests are looked at: those of as_key, where it is given.' }),
  })
  .refine(namesRules, NAME_RULES)
  .meta({
    id: 'GuardrailRecordedTestBody',
    examples: [{ guardrail: { content_filter_builtins: [{ slug: 'email', action: 'block' }] }, limit: 50 }],
  })

const requests = z.int().min(0)

export const guardrailRecordedTest = z
  .object({
    looked_at: requests.meta({ description: 'Requests: the newest ones of the workspace, or of the key.' }),
    with_contents: requests.meta({ description: 'How many of them have their contents stored.' }),
    tried: requests.meta({ description: 'How many of those were tried; `left_out` has the others.' }),
    left_out: z.object({
      too_large: requests.meta({ description: 'Contents that are too large, or were not kept whole.' }),
      no_room: requests.meta({ description: 'Behind as many bytes, or as much time, as one trial may take.' }),
      gone: requests.meta({ description: 'Contents that were deleted meanwhile, or that cannot be read.' }),
    }),
    blocked: requests,
    redacted: requests,
    flagged: requests,
    passed: requests,
    found: z
      .array(
        z.object({
          generation_id: z.string(),
          created_at: z.iso.datetime(),
          outcome: z.enum(['flagged', 'redacted', 'blocked']),
          sides: z.array(z.enum(['input', 'output'])).meta({ description: 'Where something was found: the request, the answer.' }),
          filters: z.array(z.string()).meta({ description: 'Labels and patterns of the filters; never what they found.' }),
        }),
      )
      .meta({ description: 'Every request in which something was found, the newest first.' }),
  })
  .meta({ id: 'GuardrailRecordedTest' })
