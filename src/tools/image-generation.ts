/** Creates images with a model that can. The client gets the image; the model that asked for it is only informed. */
import { z } from 'zod'

import { argumentSchema } from '../canonical/argument-schema.ts'
import { serverToolName } from '../canonical/server-tool-name.ts'
import { invalidField, validate } from '../contract/validate.ts'
import type { JsonObject } from '../lib/json/json.ts'
import { createCallCount, textPart } from './agents/agent-options.ts'
import { agentFailure } from './agents/agent-options.ts'
import { failed, type MakeTool } from './tool.ts'

const options = z.looseObject({
  model: z.string().min(1).max(200).optional(),
  output_compression: z.int().min(0).max(100).optional(),
  partial_images: z.int().min(0).max(3).optional(),
})

const asked = z.looseObject({ prompt: z.string().trim().min(1) })

const PICTURES_MAX = 4

export const imageGenerationTool = ({ model: defaultModel }: { readonly model?: string | undefined }): MakeTool => {
  const countCall = createCallCount()
  return ({ parameters, at, askedAs }, caller) => {
    const { model: named, engine: _engine, ...imageConfig } = validate(options, parameters, [at, 'parameters'])
    // OpenAI's own type names models of its Images API, which no other provider has.
    const model = (serverToolName(askedAs) === null ? undefined : named) ?? defaultModel
    if (model === undefined) {
      throw invalidField(
        `${at}.parameters.model`,
        `${askedAs} cannot run: no model is named, and none is configured (tools.image_generation.model).`,
      )
    }
    return {
      description: 'Makes a picture from a description and shows it to the user. You do not see it.',
      parameters: argumentSchema({ prompt: { type: 'string', description: 'What the picture shows, in detail.' } }),
      async run(input, turn) {
        const wanted = asked.safeParse(input)
        if (!wanted.success) return failed('invalid_tool_input', 'A picture needs a prompt.', { status: 'error' })
        const number = countCall(caller)
        if (number > PICTURES_MAX) {
          return failed('max_uses_exceeded', `A request has ${PICTURES_MAX} pictures at most.`, { status: 'error' })
        }
        const answer = await turn.ask(
          {
            model,
            messages: [{ role: 'user', parts: [textPart(wanted.data.prompt)] }],
            options: {
              modalities: ['image', 'text'],
              ...(Object.keys(imageConfig).length === 0 ? {} : { image_config: imageConfig as JsonObject }),
            },
          },
          turn.signal,
        )
        if (answer.fault !== null) return agentFailure(answer.fault)
        const picture = answer.pictures.find((url) => url.startsWith('data:'))
        if (picture === undefined) return agentFailure({ code: 'unavailable', message: `${answer.model} made no picture.` })
        return { fault: null, value: { status: 'ok', imageUrl: `service-image:${number}` }, pictures: [picture], partlyShown: true }
      },
    }
  }
}
