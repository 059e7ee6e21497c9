/** The form of the answer (docs/contract/chat-completions.md#request). */
import { serverToolTypes } from '../../canonical/server-tool-name.ts'
import { z } from 'zod'

import { jsonObject, optionalFlag, optionalObject, optionalText, textUpTo } from './scalars.ts'

export const verbosity = z.enum(['low', 'medium', 'high', 'xhigh', 'max'])

/** Free-form, because keys and values vary by model and provider (docs/contract/requests.md#shared-fields). */
export const imageConfig = jsonObject.meta({ description: 'Goes to the provider as it is.' })

export const responsesModalities = z.array(z.enum(['text', 'image']))
export const chatModalities = z.array(z.enum(['text', 'image', 'audio']))

/** Spoken output. A voice of the account's own is given by its id. */
export const audioOutput = z
  .looseObject({ voice: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(), format: optionalText })
  .meta({ id: 'AudioOutput' })

/** Text that the client expects to make up most of the answer. */
export const prediction = z.looseObject({
  type: z.literal('content'),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))]),
})

/** The item by which Responses asks for log probabilities. */
export const LOGPROBS_INCLUDED = 'message.output_text.logprobs'

/** The item by which Responses asks for thinking in a form that can be sent back. */
export const SEALED_THINKING = 'reasoning.encrypted_content'

export const responsesInclude = z.array(
  z.enum([
    'file_search_call.results',
    'message.input_image.image_url',
    'computer_call_output.output.image_url',
    SEALED_THINKING,
    'code_interpreter_call.outputs',
    LOGPROBS_INCLUDED,
    'web_search_call.results',
    'web_search_call.action.sources',
    // These concern the service's own tools.
    ...serverToolTypes('progress'),
    ...serverToolTypes('web_fetch.content'),
  ]),
)

const plainText = z.looseObject({ type: z.literal('text') })
const jsonAnything = z.looseObject({ type: z.literal('json_object') })
const schemaName = textUpTo(64)

export const chatResponseFormat = z
  .discriminatedUnion('type', [
    plainText,
    jsonAnything,
    z.looseObject({
      type: z.literal('json_schema'),
      json_schema: z.looseObject({ name: schemaName, schema: optionalObject, strict: optionalFlag, description: optionalText }),
    }),
    z.looseObject({ type: z.literal('grammar'), grammar: z.string() }),
    z.looseObject({ type: z.literal('python') }),
  ])
  .meta({ id: 'ChatResponseFormat' })

export const responsesText = z
  .looseObject({
    format: z
      .discriminatedUnion('type', [
        plainText,
        jsonAnything,
        z.looseObject({
          type: z.literal('json_schema'),
          name: schemaName,
          schema: jsonObject,
          strict: optionalFlag,
          description: optionalText,
        }),
      ])
      .nullish(),
    verbosity: verbosity.nullish(),
  })
  .meta({ id: 'ResponsesText' })

/** In a system message among the turns, which changes the effort from there on. */
export const messageOutputConfig = z.looseObject({ effort: verbosity.nullish() }).meta({ id: 'MessagesMessageOutputConfig' })

export const messagesOutputFormat = z.looseObject({ type: z.literal('json_schema'), schema: jsonObject })

export const messagesOutputConfig = z
  .looseObject({
    effort: verbosity.nullish(),
    format: messagesOutputFormat.nullish(),
    task_budget: z.looseObject({ type: z.literal('tokens'), total: z.int().min(20_000), remaining: z.int().min(0).nullish() }).nullish(),
  })
  .meta({ id: 'MessagesOutputConfig' })
