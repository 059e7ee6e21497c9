/** The table of all routes. */
import type { AppParts } from './app-parts.ts'
import type { Doors } from './authenticate.ts'
import { createListedModels, type ListedModels } from './listed-models.ts'
import type { Mount } from './openapi.ts'
import type { Route } from './route.ts'
import { countTokensRoute } from './routes/count-tokens.ts'
import { dashboardRoutes } from './routes/dashboard.ts'
import { embeddingsRoute } from './routes/embeddings.ts'
import { generationGet } from './routes/generation.ts'
import { createPacedReads } from './paced-reads.ts'
import { guardrailRecordedTestsCreate, TRIAL_ANSWER_MS } from './routes/guardrail-recorded-tests.ts'
import { guardrailTestsCreate } from './routes/guardrail-tests.ts'
import { requestLogRoutes } from './routes/request-log.ts'
import { inferenceRoute } from './routes/inference.ts'
import { keyCurrent } from './routes/keys.ts'
import { managementRoutes } from './routes/management.ts'
import { endpointsZdr, modelGet, modelsCount, modelsEndpoints, modelsGet, modelsList } from './routes/models.ts'
import { oidcRoutes } from './routes/oidc.ts'
import { consentRoutes, oauthRoutes } from './routes/oauth.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { providerTestCreate } from './routes/provider-test.ts'
import { providersList } from './routes/providers.ts'
import { presetFromGeneration } from './routes/preset-from-generation.ts'
import { presetsCreate } from './routes/presets-create.ts'
import { createPresetUsage } from './routes/preset-usage.ts'
import { presetsDelete, presetsGet, presetsHistory, presetsList, presetsPatch, presetsVersion, presetsVersions } from './routes/presets.ts'
import { docsPage, healthLive, healthReady, metricsText, openapiJson, welcome } from './routes/service.ts'

/** The description of the API for machines (JSON) and for people (page), made on first request. */
export interface Described {
  readonly json: () => Promise<string>
  readonly page: () => Promise<string>
}

const API_BASE = '/api/v1'
export const ALIAS_BASE = '/v1'

/** Every route, under every base path at which it is reachable. */
export const routeTable = (parts: AppParts, described: Described): readonly Mount[] => {
  const api = apiRoutes({ ...parts, listed: createListedModels(parts) })
  return [
    { base: API_BASE, routes: api },
    { base: ALIAS_BASE, routes: api },
    { base: '', routes: serviceRoutes(parts, described) },
  ]
}

/** The API, below `/api/v1` and, for clients that are given a bare host, below `/v1` (docs/contract/headers.md#paths). */
const apiRoutes = (parts: AppParts & { readonly listed: ListedModels }): readonly Route[] => [
  inferenceRoute('chat', parts),
  inferenceRoute('responses', parts),
  inferenceRoute('messages', parts),
  countTokensRoute('messages', { formats: parts.formats, pipeline: parts.answering.pipeline }),
  countTokensRoute('responses', { formats: parts.formats, pipeline: parts.answering.pipeline }),
  embeddingsRoute(parts.answering.pipeline),

  presetsCreate('responses', parts),
  presetsCreate('messages', parts),
  presetsCreate('chat', parts),
  presetsList({ presets: parts.presets, usageOf: createPresetUsage(parts) }),
  presetsGet(parts.presets),
  presetsPatch(parts.presets),
  presetsDelete(parts.presets),
  presetsVersions(parts.presets),
  presetsVersion(parts.presets),
  presetsHistory(parts.presets),
  presetFromGeneration({ ...parts, auditLog: parts.management.auditLog }),

  ...managementRoutes(parts.keys, parts.management),
  keyCurrent('/key', { ...parts, flush: parts.generations.flush }),
  keyCurrent('/auth/key', { ...parts, flush: parts.generations.flush }),

  ...(parts.oauth === null ? [] : oauthRoutes(parts.oauth)),
  ...(parts.signIn === null ? [] : sessionRoutes({ ...parts.signIn, ...parts.management })),
  ...parts.resources,
  guardrailTestsCreate(parts),
  guardrailRecordedTestsCreate({ ...parts, auditLog: parts.management.auditLog, reads: createPacedReads(parts.clock, TRIAL_ANSWER_MS) }),

  modelsList('/models', parts),
  modelsList('/models/user', parts),
  modelsList('/embeddings/models', parts),
  modelsCount(parts),
  modelsGet('/models/:author/:slug', parts),
  modelsGet('/models/:id', parts),
  modelGet(parts),
  modelsEndpoints(parts),
  endpointsZdr(parts.models, parts.health, parts.clock),
  providersList(parts.models),
  providerTestCreate(parts),
  generationGet(parts.generations),
  ...requestLogRoutes(parts, doorsOf(parts)),
]

export const doorsOf = ({ keys, signIn }: AppParts): Doors => ({ keys, door: signIn?.door ?? null })

const serviceRoutes = (parts: AppParts, described: Described): readonly Route[] => [
  welcome(parts.dashboard === null ? '/docs' : '/dashboard'),
  healthLive(),
  healthReady(parts.ready),
  metricsText(parts.metrics),
  openapiJson(described.json),
  docsPage(described.page),
  ...(parts.dashboard === null ? [] : dashboardRoutes(parts.dashboard)),
  ...(parts.oauth === null ? [] : consentRoutes(parts.oauth)),
  ...(parts.oidc === null ? [] : oidcRoutes(parts.oidc)),
]
