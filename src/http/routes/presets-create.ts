/** POST /presets/{slug}/{interface}: makes a preset, or its next version, from the body of an inference request. */
import { z } from 'zod'

import type { ClientDialect } from '../../canonical/call.ts'
import { idempotencyKey, onceHeaders } from '../../contract/idempotency.ts'
import { savedPreset } from '../../contract/preset.ts'
import { presetSlug } from '../../contract/preset-name.ts'
import { readSaveOptions, saveHeaders, saveQuery } from '../../contract/save-preset.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { presetBodySchema as chatBody } from '../../formats/openai-chat/preset-config.ts'
import { presetBodySchema as responsesBody } from '../../formats/openai-responses/preset-config.ts'
import { presetBodySchema as messagesBody } from '../../formats/anthropic-messages/preset-config.ts'
import type { Presets } from '../../presets/presets.ts'
import { callerOf, changedBy, reachOf, type Route } from '../route.ts'
import { savedResponse } from '../response/saved-response.ts'
import { unservableContent, type UnservableParts } from '../unservable-versions.ts'

const PATHS = {
  responses: { path: '/presets/:slug/responses', operation: 'createPresetsResponses', body: responsesBody },
  messages: { path: '/presets/:slug/messages', operation: 'createPresetsMessages', body: messagesBody },
  chat: { path: '/presets/:slug/chat/completions', operation: 'createPresetsChatCompletions', body: chatBody },
} as const satisfies Record<ClientDialect, unknown>

const savedAnswer = z.object({ data: savedPreset })

export interface PresetsCreateParts extends UnservableParts {
  readonly presets: Presets
}

export const presetsCreate = (dialect: ClientDialect, parts: PresetsCreateParts): Route => {
  const { path, operation, body } = PATHS[dialect]
  return {
    method: 'POST',
    path,
    operation,
    summary: `Create a preset, or a new version of one, from a ${dialect} request body`,
    tag: 'Presets',
    policy: 'management',
    surface: 'management',
    params: { slug: presetSlug },
    query: { ...saveQuery, ...inWorkspace },
    headers: { ...saveHeaders, ...onceHeaders },
    body,
    answers: {
      200: { description: 'The preset with the version that this request wrote.', schema: savedAnswer },
    },
    errors: [404, 409, 412],
    async handle(request) {
      const slug = validate(presetSlug, request.params['slug'], ['slug'])
      const key = request.headers.get('idempotency-key')
      const options = readSaveOptions(request.query, request.headers)
      const { members, text, turn } = await request.object()
      const format = parts.formats[dialect]
      const { content, warnings } = format.presetContent(members)
      await turn()
      const { workspaceId } = reachOf(request)
      const unservable = await unservableContent(content, request, parts, turn)
      const { userId } = callerOf(request)
      return savedResponse(
        await parts.presets.save({
          workspaceId,
          userId,
          slug,
          content,
          options,
          by: changedBy(request),
          warnings: [...warnings.map(({ message }) => message), ...unservable],
          turn,
          idempotency:
            key === null ? null : { key: validate(idempotencyKey, key, ['Idempotency-Key']), route: operation, bodyText: text() },
        }),
      )
    },
  }
}
