/** Guardrails tried on a text, on the wire (docs/contract/guardrails.md#tests). */
import { z } from 'zod'

import { FILTER_ACTIONS, guardrailId, updateGuardrailBody } from './guardrail.ts'
import { keyHash } from './key.ts'

const TEXT_MAX = 1_000_000
const MESSAGES_MAX = 1000

export const guardrailTestBody = z
  .strictObject({
    guardrail: updateGuardrailBody
      .optional()
      .meta({ description: 'A draft: settings over those of guardrail_id, or of a new guardrail. It is not saved.' }),
    guardrail_id: guardrailId.optional(),
    as_key: keyHash
      .optional()
      .meta({ description: 'With everything that holds for this key; the tested guardrail as if it were assigned to it.' }),
    side: z.enum(['input', 'output']).default('input'),
    text: z.string().max(TEXT_MAX).optional().meta({ description: 'Said by the user, or, on the output side, by the model.' }),
    messages: z
      .array(z.record(z.string(), z.json()))
      .min(1)
      .max(MESSAGES_MAX)
      .optional()
      .meta({ description: 'Messages of Chat Completions, instead of text; on the input side only.' }),
  })
  .refine(({ guardrail, guardrail_id, as_key }) => guardrail !== undefined || guardrail_id !== undefined || as_key !== undefined, {
    message: 'Name what to test: guardrail, guardrail_id or as_key.',
  })
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
    messages_after: z.array(z.json()).nullable().meta({ description: 'What goes on of messages; null for text.' }),
    error: z
      .object({ message: z.string(), patterns: z.array(z.string()) })
      .nullable()
      .meta({ description: 'What the client of a real request reads.' }),
    moderation_not_asked: z.array(z.string()).meta({ description: 'Moderation endpoints that a real request is shown to.' }),
  })
  .meta({ id: 'GuardrailTest' })
