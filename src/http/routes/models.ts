import { z } from 'zod'

import { endpoint, model, modelEndpoints, type ModelResource } from '../../contract/model.ts'
import { paging } from '../../contract/paging.ts'
import { GatewayError } from '../../errors.ts'
import { modelResource, presetAsModel } from '../../models/model-resource.ts'
import type { Model, Models } from '../../models/models.ts'
import type { HealthView } from '../../routing/health.ts'
import { endpointsResource, zdrEndpoints } from '../../routing/endpoint-resource.ts'
import type { Presets } from '../../presets/presets.ts'
import { jsonResponse } from '../json-response.ts'
import { principalOf, type Route, type RouteRequest } from '../route.ts'

const retrievedModel = model.extend({ object: z.literal('model'), owned_by: z.string() })

const modelList = z.object({ data: z.array(model), total_count: z.int(), links: z.object({ next: z.string().nullable() }) })

/** Pickers read the whole list at once, so it is cut only where a client asks for a part. */
const modelPaging = paging({ limitMax: 1000, limitDefault: null })

interface ModelParts {
  readonly models: Models
  readonly presets: Presets
}

const OPERATIONS = { '/models': 'listModels', '/models/user': 'listModelsUser' } as const

/** Active presets come first, since they are what a team chose to offer; then the models, newest first. */
export const modelsList = (path: keyof typeof OPERATIONS, parts: ModelParts): Route => ({
  method: 'GET',
  path,
  operation: OPERATIONS[path],
  summary: 'List the models and presets that this key can call',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  query: modelPaging.query,
  answers: {
    200: {
      description: "Models. Clients of Anthropic's API get that API's shape, Codex the same list under `models` too.",
      schema: modelList,
    },
  },
  errors: [400],
  async handle(request) {
    const { offset, limit } = modelPaging.read(request.query)
    const listed = [...(await presetModels(request, parts)), ...parts.models.list().map(modelResource)]
    return jsonResponse(shapeFor(request, listed.slice(offset, offset + limit), listed.length))
  },
})

const presetModels = async (request: RouteRequest, parts: ModelParts): Promise<ModelResource[]> =>
  (await parts.presets.served(principalOf(request).workspaceId)).map(
    ({ slug, name, description, created_at, designated_version: { config } }) =>
      presetAsModel(
        { slug, name, description, created: Math.floor(Date.parse(created_at) / 1000) },
        typeof config['model'] === 'string' ? parts.models.find(config['model']) : undefined,
      ),
  )

/** Contract 8: two clients read a list of another shape from the same path. */
const shapeFor = (request: RouteRequest, models: readonly ModelResource[], total: number): unknown => {
  if (request.headers.has('anthropic-version')) {
    return {
      data: models.map(anthropicModel),
      has_more: false,
      first_id: models[0]?.id ?? null,
      last_id: models.at(-1)?.id ?? null,
    }
  }
  const list = { data: models, total_count: total, links: { next: null } }
  return request.query.has('client_version') ? { ...list, models } : list
}

const anthropicModel = ({ id, name, created }: ModelResource): object => ({
  type: 'model',
  id,
  display_name: name,
  created_at: new Date(created * 1000).toISOString(),
})

const RETRIEVALS = {
  '/models/:author/:slug': { operation: 'getModel', params: { author: z.string(), slug: z.string() } },
  '/models/:id': { operation: 'retrieveModel', params: { id: z.string() } },
} as const

/** Clients encode the slashes of an id, so that it is one segment, of which the second path reads any number; people type the first. */
export const modelsGet = (path: keyof typeof RETRIEVALS, parts: ModelParts): Route => ({
  method: 'GET',
  path,
  operation: RETRIEVALS[path].operation,
  summary: path === '/models/:id' ? 'Get a model or preset by its encoded id' : 'Get a model or preset',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  params: RETRIEVALS[path].params,
  answers: {
    200: { description: "The model, in the shape of Anthropic's API for that API's clients.", schema: retrievedModel },
  },
  errors: [404],
  async handle(request) {
    const { author = '', slug = '', id = `${author}/${slug}` } = request.params
    const found = id.startsWith(PRESET_PREFIX)
      ? (await presetModels(request, parts)).find((preset) => preset.id === id)
      : resourceOf(parts.models.find(id))
    if (found === undefined) throw noModel(id)
    if (request.headers.has('anthropic-version')) return jsonResponse(anthropicModel(found))
    return jsonResponse({ ...found, object: 'model', owned_by: id.slice(0, id.indexOf('/')) })
  },
})

const PRESET_PREFIX = '@preset/'

const resourceOf = (found: Model | undefined): ModelResource | undefined => (found === undefined ? undefined : modelResource(found))

/** A hostile id is not repeated at length. */
const noModel = (id: string): GatewayError => new GatewayError('not_found', `There is no model "${id.slice(0, 200)}".`)

export const modelsCount = (models: Models): Route => ({
  method: 'GET',
  path: '/models/count',
  operation: 'countModels',
  summary: 'Count the models',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  answers: { 200: { description: 'The number of models, presets not counted.', schema: z.object({ data: z.object({ count: z.int() }) }) } },
  errors: [],
  handle: () => jsonResponse({ data: { count: models.list().length } }),
})

export const modelsEndpoints = (models: Models, health: HealthView): Route => ({
  method: 'GET',
  path: '/models/:author/:slug/endpoints',
  operation: 'listEndpoints',
  summary: 'List who serves a model',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  params: { author: z.string(), slug: z.string() },
  answers: { 200: { description: 'The model with its endpoints.', schema: z.object({ data: modelEndpoints }) } },
  errors: [404],
  handle(request) {
    const id = `${request.params['author'] ?? ''}/${request.params['slug'] ?? ''}`
    const found = models.find(id)
    if (found === undefined) throw noModel(id)
    return jsonResponse({ data: endpointsResource(found, health) })
  },
})

export const endpointsZdr = (models: Models, health: HealthView): Route => ({
  method: 'GET',
  path: '/endpoints/zdr',
  operation: 'listEndpointsZdr',
  summary: 'List the endpoints that keep nothing of what they are sent',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  answers: { 200: { description: 'Those of which the configuration says so.', schema: z.object({ data: z.array(endpoint) }) } },
  errors: [],
  handle: () => jsonResponse({ data: zdrEndpoints(models, health) }),
})
