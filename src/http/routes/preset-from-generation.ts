/**
 * POST /presets/{slug}/from-generation: makes a preset, or its next version, from a request that was
 * answered (docs/contract/presets.md#from-a-request).
 */
import { z } from 'zod'

import { scopeOf } from '../../canonical/reach.ts'
import { generationContent } from '../../contract/generation-content.ts'
import { generationId, generationIdQuery } from '../../contract/generation.ts'
import { idempotencyKey, onceHeaders } from '../../contract/idempotency.ts'
import { presetShape, savedPreset, type PresetShape } from '../../contract/preset.ts'
import { presetSlug } from '../../contract/preset-name.ts'
import { readSaveOptions, saveHeaders, saveQuery } from '../../contract/save-preset.ts'
import { invalidField, validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { GatewayError } from '../../errors.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import { missingCredentials } from '../../inference/screen/own-credentials.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { besides } from '../../storage/changes/audit-log.ts'
import type { Presets } from '../../presets/presets.ts'
import type { StoredGeneration } from '../../storage/generations/generation-store.ts'
import type { Formats } from '../../formats/formats.ts'
import { callerOf, changedBy, changeOf, reachOf, type Route, type RouteRequest } from '../route.ts'
import { savedResponse } from '../response/saved-response.ts'
import type { GenerationContentParts } from './generation-content.ts'

const fromGenerationBody = z
  .strictObject({ generation_id: generationIdQuery.id })
  .meta({ id: 'PresetFromGeneration', examples: [{ generation_id: 'gen-4Qd1bVnT0uYkXw7sHc2LmR9p' }] })

export interface PresetFromGenerationParts extends GenerationContentParts {
  readonly presets: Presets
  readonly formats: Formats
}

const OPERATION = 'createPresetFromGeneration'

export const presetFromGeneration = (parts: PresetFromGenerationParts): Route => ({
  method: 'POST',
  path: '/presets/:slug/from-generation',
  operation: OPERATION,
  summary: 'Create a preset, or a new version of one, from a request that was answered',
  tag: 'Presets',
  policy: 'management',
  surface: 'management',
  params: { slug: presetSlug },
  query: { ...saveQuery, ...inWorkspace },
  headers: { ...saveHeaders, ...onceHeaders },
  body: fromGenerationBody,
  answers: {
    200: {
      description: 'The preset; `warnings` name what the record does not hold.',
      schema: z.object({ data: savedPreset, warnings: z.array(z.string()) }),
    },
  },
  errors: [404, 409, 412],
  async handle(request) {
    const slug = validate(presetSlug, request.params['slug'], ['slug'])
    const options = readSaveOptions(request.query, request.headers)
    const key = request.headers.get('idempotency-key')
    const bodyText = await request.text()
    const { generation_id } = validate(fromGenerationBody, readJsonObject(bodyText))
    const saving = {
      workspaceId: reachOf(request).workspaceId,
      slug,
      options,
      idempotency: key === null ? null : { key: validate(idempotencyKey, key, ['Idempotency-Key']), route: OPERATION, bodyText },
    }
    // A repetition reads no contents, and gets its answer after those are gone too.
    return savedResponse((await parts.presets.answered(saving)) ?? (await parts.presets.save({ ...saving, ...(await read()) })))

    async function read() {
      const { shape, body, warnings: missing } = await bodyOf(generationId(generation_id), request, parts)
      const { content, warnings: own } = parts.formats[shape].presetContent(body)
      return {
        userId: callerOf(request).userId,
        content,
        by: changedBy(request),
        warnings: [...missing, ...own.map(({ message }) => message)],
        warningsShown: true,
      }
    }
  },
})

interface Found {
  readonly shape: PresetShape
  readonly body: JsonObject
  readonly warnings: readonly string[]
}

/** The request that was sent, if it is kept; the settings in the record show the result of merging it with the preset that it named. */
const bodyOf = async (id: string, request: RouteRequest, parts: PresetFromGenerationParts): Promise<Found> => {
  const reach = reachOf(request)
  await parts.generations.flush()
  const generation = await parts.generations.store.get(id, scopeOf(reach))
  if (generation === null) throw new GatewayError('not_found', `There is no generation "${cutText(id, 128)}".`)
  const { record } = generation
  const shape = presetShape.safeParse(record['interface']).data
  if (shape === undefined) throw invalidField('generation_id', 'Only requests with a conversation make presets.')
  const settings = isObject(record['settings']) ? record['settings'] : {}
  const sent = await contentOf(generation, request, parts)
  const carried = carriedOf(generation)
  if (sent !== null)
    return { shape, body: { ...sent, ...settings }, warnings: [...presetTexts(generation), ...carried, ...credentialsOf(sent)] }
  const missing = leftOut.catch([]).parse(record['settings_left_out'])
  const also = missing.length === 0 ? '' : ` So are these settings: ${missing.join(', ')}.`
  return {
    shape,
    body: settings,
    warnings: [`The contents of the request are not stored: its texts are missing, the system prompt among them.${also}`, ...carried],
  }
}

const leftOut = z.array(z.string())

/** The prompt of a preset is not part of what a client sent. */
const presetTexts = ({ record }: StoredGeneration): readonly string[] =>
  typeof record['preset_slug'] === 'string'
    ? [`The request used the preset ${record['preset_slug']}, whose own system prompt is not taken.`]
    : []

/** The new preset has the interface of the request, which has no fields for these. */
const carriedOf = ({ record }: StoredGeneration): readonly string[] => {
  const names = Object.keys(isObject(record['settings_carried']) ? record['settings_carried'] : {})
  return names.length === 0
    ? []
    : [`These settings of its preset are not taken, since this interface has no fields for them: ${names.join(', ')}.`]
}

/** The credentials of tools are not stored with the contents. */
const credentialsOf = (sent: JsonObject): readonly string[] => {
  const places = missingCredentials(sent)
  return places.length === 0
    ? []
    : [`The credentials of the request's tools are not stored. Set them in the preset before you use it: ${places.join(', ')}.`]
}

/** The content is read by somebody who manages the workspace, so the read is recorded in the audit log. */
const contentOf = async (
  { id, workspaceId }: StoredGeneration,
  request: RouteRequest,
  parts: PresetFromGenerationParts,
): Promise<JsonObject | null> => {
  await parts.contents.flush()
  const found = await parts.contents.store.get(id, workspaceId)
  const sent = found === null ? null : storedRequest.parse(found.content).request
  if (sent === null) return null
  const entry = { workspaceId, action: 'read', objectType: 'generation_content' as const, objectId: id, before: null, after: null }
  // The request's other entry is that of the saved version.
  const { by, now } = changeOf(request, parts.clock)
  await parts.auditLog.note(entry, { by: besides(by, 'content'), now })
  return sent
}

const storedRequest = generationContent.pick({ request: true })
