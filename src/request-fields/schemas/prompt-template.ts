/** The part of a stored prompt that a preset keeps besides its system text: messages with placeholders, and their variables. */
import { z } from 'zod'

export const VARIABLE_TYPES = ['text', 'image', 'file'] as const

const variableName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z_][A-Za-z0-9_-]*$/, 'Start with a letter or _, then letters, digits, _ -')

/** A variable in a text: `{{name}}`. */
export const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_-]{0,63})\s*\}\}/g

/** One part of a message, in the form of the Responses interface. No other members are allowed. */
export const promptPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input_text'), text: z.string() }),
  z.strictObject({
    type: z.literal('input_image'),
    image_url: z.string().nullish(),
    file_id: z.string().nullish(),
    detail: z.enum(['low', 'high', 'auto', 'original']).nullish(),
  }),
  z.strictObject({
    type: z.literal('input_file'),
    file_id: z.string().nullish(),
    file_url: z.string().nullish(),
    file_data: z.string().nullish(),
    filename: z.string().nullish(),
  }),
])

const promptMessage = z
  .strictObject({
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.union([z.string(), z.array(promptPart).min(1).max(100)]),
  })
  .refine(({ role, content }) => role !== 'assistant' || typeof content === 'string', 'An assistant message holds text only.')

const promptVariable = z
  .strictObject({
    type: z.enum(VARIABLE_TYPES).default('text'),
    default: z.string().nullish().meta({ description: 'The text where a request gives none; a variable without it must be given.' }),
    description: z.string().max(2000).nullish(),
  })
  .refine(({ type, default: text }) => type === 'text' || text == null, 'Only a text has a default.')

const VARIABLES_MAX = 100
const MESSAGES_MAX = 200

export const promptTemplate = z
  .strictObject({
    messages: z.array(promptMessage).max(MESSAGES_MAX).default([]),
    variables: z
      .record(variableName, promptVariable)
      .refine((variables) => Object.keys(variables).length <= VARIABLES_MAX, `Declare at most ${VARIABLES_MAX} variables.`)
      .default({}),
  })
  .meta({ id: 'PromptTemplate', description: 'For requests that name the preset with `prompt`: {{name}} in texts is a variable.' })

export type PromptTemplate = z.output<typeof promptTemplate>
export type PromptMessage = PromptTemplate['messages'][number]
export type PromptPart = z.output<typeof promptPart>
export type PromptVariable = z.output<typeof promptVariable>
