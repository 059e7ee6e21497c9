import { z } from 'zod'

import { endpoint, model, modelEndpoints, type ModelResource } from '../../contract/model.ts'
import { cursorPage, cursorQuery, placePaging } from '../../contract/model-page.ts'
import { modelQuery, readModelQuery } from '../../contract/model-query.ts'
import { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { modelResource, pricingSource } from '../../models/model-resource.ts'
import type { Models } from '../../models/models.ts'
import { selectModels } from '../../models/select-models.ts'
import { bareSlug } from '../../presets/model-reference.ts'
import type { Presets } from '../../presets/presets.ts'
import { endpointsResource, zdrEndpoints } from '../../routing/endpoint-resource.ts'
import { shown, unknownModel } from '../../routing/explain.ts'
import type { HealthView } from '../../routing/health.ts'
import { resolveModel } from '../../routing/resolve-model.ts'
import { jsonResponse } from '../response/json-response.ts'
import type { Listed, ListedModels } from '../listed-models.ts'
import type { Caller } from '../../keys/caller.ts'
import { callerOf, type Route, type RouteRequest } from '../route.ts'
import type { Model } from '../../models/model.ts'

const retrievedModel = model.extend({ object: z.literal('model'), owned_by: z.string() }).meta({ id: 'RetrievedModel' })

const modelList = z.object({
  object: z.literal('list'),
  data: z.array(retrievedModel),
  total_count: z.int(),
  links: z.object({ next: z.string().nullable() }),
})

interface ModelParts {
  readonly models: Models
  readonly presets: Presets
  readonly listed: ListedModels
  readonly clock: Clock
}

const LISTS = { '/models': 'listModels', '/models/user': 'listModelsUser', '/embeddings/models': 'listEmbeddingsModels' } as const

/** Active presets come first, since they are what a team chose to offer; then the models, newest first. */
export const modelsList = (path: keyof typeof LISTS, { listed, clock }: ModelParts): Route => ({
  method: 'GET',
  path,
  operation: LISTS[path],
  summary: path === '/embeddings/models' ? 'List the models that make embeddings' : 'List the models and presets that this key can call',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  ignoresUnknownQuery: true,
  query: { ...placePaging.query, ...cursorQuery, ...modelQuery },
  answers: {
    200: {
      description: "Models. Clients of Anthropic's API get that API's shape, Codex the same list under `models` too.",
      schema: modelList,
    },
  },
  errors: [400],
  async handle(request) {
    const { query, headers } = request
    const asked = readModelQuery(query)
    const caller = callerOf(request)
    const models = await listed.models(caller)
    // Presets do not apply to embeddings.
    const all = path === '/embeddings/models' ? models.filter(makesEmbeddings) : [...(await listed.presets(caller)), ...models]
    const selected = selectModels(all, asked, clock.now()).map(({ resource }) => resource)
    if (headers.has('anthropic-version')) return jsonResponse(anthropicList(selected, query))
    const { offset, limit } = placePaging.read(query)
    const data = selected.slice(offset, offset + limit).map(withOpenaisMembers)
    const end = offset + data.length
    const next = data.length > 0 && end < selected.length ? `/api/v1${path}?${nextQuery(query, end)}` : null
    const list = { object: 'list', data, total_count: selected.length, links: { next } }
    return jsonResponse(query.has('client_version') ? { ...list, models: data } : list)
  },
})

const makesEmbeddings = ({ model }: Listed): boolean => model.outputModalities.includes('embeddings')

/** Typed clients of OpenAI's API refuse a model without these members. */
const withOpenaisMembers = (found: ModelResource): z.infer<typeof retrievedModel> => ({
  ...found,
  object: 'model',
  owned_by: found.id.slice(0, found.id.indexOf('/')),
})

/** The query of the next page: the same parameters with a new offset. */
const nextQuery = (query: URLSearchParams, offset: number): string => {
  const next = new URLSearchParams(query)
  next.set('offset', String(offset))
  return next.toString()
}

/** Clients that read this form page by ids (docs/contract/models.md#list). */
const anthropicList = (models: readonly ModelResource[], query: URLSearchParams): object => {
  const { items, hasMore } = cursorPage(models, query)
  return { data: items.map(anthropicModel), has_more: hasMore, first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null }
}

/** Typed clients require every member of Anthropic's. A model that is listed can be called, so it is active. */
const anthropicModel = ({ id, name, created, context_length, top_provider }: ModelResource): object => ({
  type: 'model',
  id,
  display_name: name,
  created_at: new Date(created * 1000).toISOString(),
  lifecycle: 'active',
  deprecated_at: null,
  retires_at: null,
  line: null,
  max_input_tokens: context_length,
  max_tokens: top_provider.max_completion_tokens,
  capabilities: null,
})

export const modelsCount = ({ listed, clock }: ModelParts): Route => ({
  method: 'GET',
  path: '/models/count',
  operation: 'countModels',
  summary: 'Count the models that this key can call',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  ignoresUnknownQuery: true,
  query: modelQuery,
  answers: { 200: { description: 'The number of models, presets not counted.', schema: z.object({ data: z.object({ count: z.int() }) }) } },
  errors: [400],
  async handle(request) {
    const models = await listed.models(callerOf(request))
    return jsonResponse({ data: { count: selectModels(models, readModelQuery(request.query), clock.now()).length } })
  },
})

const RETRIEVALS = {
  '/models/:author/:slug': { operation: 'retrieveModelBySlug', params: { author: z.string(), slug: z.string() } },
  '/models/:id': { operation: 'retrieveModel', params: { id: z.string() } },
} as const

/** Clients encode the slashes of an id, so that it is one segment; the second path takes any number of segments. People type the first. */
export const modelsGet = (path: keyof typeof RETRIEVALS, parts: ModelParts): Route => ({
  method: 'GET',
  path,
  operation: RETRIEVALS[path].operation,
  summary: path === '/models/:id' ? "Get a model or preset by its encoded id, or by its vendor's name" : 'Get a model or preset',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  ignoresUnknownQuery: true,
  params: RETRIEVALS[path].params,
  answers: {
    200: { description: "The model, in the shape of Anthropic's API for that API's clients.", schema: retrievedModel },
  },
  errors: [404],
  async handle(request) {
    const found = await retrieve(request, parts)
    if (request.headers.has('anthropic-version')) return jsonResponse(anthropicModel(found))
    return jsonResponse(withOpenaisMembers(found))
  },
})

/** The path and the answer of the public API (docs/contract/models.md#list). */
export const modelGet = (parts: ModelParts): Route => ({
  method: 'GET',
  path: '/model/:author/:slug',
  operation: 'getModel',
  summary: 'Get a model or preset, under data',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  ignoresUnknownQuery: true,
  params: { author: z.string(), slug: z.string() },
  answers: { 200: { description: 'The model.', schema: z.object({ data: model }) } },
  errors: [404],
  handle: async (request) => jsonResponse({ data: await retrieve(request, parts) }),
})

const PRESET_PREFIX = '@preset/'

/**
 * Finds the model as inference does: by an id, a preset, or a vendor's own name
 * (docs/contract/routing.md#vendor-names). Throws `not_found`.
 */
const retrieve = async (request: RouteRequest, { models, presets, listed, clock }: ModelParts): Promise<ModelResource> => {
  const { author = '', slug = '', id = `${author}/${slug}` } = request.params
  const caller = callerOf(request)
  const bare = bareSlug(id)
  const isPreset = bare !== null && (await presets.find(caller.workspaceId, bare)) !== null
  const wanted = isPreset ? PRESET_PREFIX + bare : id
  if (!wanted.startsWith(PRESET_PREFIX)) return withPriceAge(known(wanted, models), clock)
  const preset = await presetNamed(wanted, caller, listed)
  return { ...preset.resource, pricing_source: pricingSource(preset.model.endpoints[0]?.pricesFrom, clock.now()) }
}

/** Throws `not_found`. */
const presetNamed = async (id: string, caller: Caller, listed: ListedModels): Promise<Listed> => {
  const name = id.slice(PRESET_PREFIX.length)
  const slug = bareSlug(name)
  const preset = slug === null ? null : await listed.preset(caller, slug)
  if (preset !== null) return preset
  throw new GatewayError('not_found', `There is no preset "${shown(name)}" with a model.`)
}

const withPriceAge = (model: Model, clock: Clock): ModelResource => ({
  ...modelResource(model),
  pricing_source: pricingSource(model.endpoints[0]?.pricesFrom, clock.now()),
})

const known = (name: string, models: Models): Model => {
  const found = resolveModel(name, models)
  if (found === undefined) throw unknownModel(name, models)
  return found.model
}

export const modelsEndpoints = ({ models, listed, clock, health }: ModelParts & { readonly health: HealthView }): Route => ({
  method: 'GET',
  path: '/models/:author/:slug/endpoints',
  operation: 'listEndpoints',
  summary: 'List who serves a model',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  ignoresUnknownQuery: true,
  params: { author: z.string(), slug: z.string() },
  answers: { 200: { description: 'The model with its endpoints.', schema: z.object({ data: modelEndpoints }) } },
  errors: [404],
  async handle(request) {
    const id = `${request.params['author'] ?? ''}/${request.params['slug'] ?? ''}`
    const asked = id.startsWith(PRESET_PREFIX) ? await modelOfPreset(id, callerOf(request), listed) : known(id, models)
    return jsonResponse({ data: endpointsResource(asked, health, clock.now()) })
  },
})

/** The model that the preset's requests ask first. Throws `not_found`. */
const modelOfPreset = async (id: string, caller: Caller, listed: ListedModels): Promise<Model> => {
  const { model } = await presetNamed(id, caller, listed)
  if (model.endpoints.length > 0) return model
  throw new GatewayError(
    'not_found',
    `${shown(id)} uses the router ${shown(model.id)}, which chooses a model for each request, so it has no endpoints of its own.`,
  )
}

export const endpointsZdr = (models: Models, health: HealthView, clock: Clock): Route => ({
  method: 'GET',
  path: '/endpoints/zdr',
  operation: 'listEndpointsZdr',
  summary: 'List the endpoints with zero data retention',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  ignoresUnknownQuery: true,
  answers: { 200: { description: 'Endpoints that the configuration declares so.', schema: z.object({ data: z.array(endpoint) }) } },
  errors: [],
  handle: () => jsonResponse({ data: zdrEndpoints(models, health, clock.now()) }),
})
