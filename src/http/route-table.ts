/** The table of all routes. A row is a route, or the paths of those in a file that is loaded when one of them is asked for. */
import type { AppParts } from './app-parts.ts'
import type { Doors } from './access/authenticate.ts'
import { later, type Row, type Table } from './later-routes.ts'
import { createListedModels } from './listed-models.ts'
import { createPacedReads } from './paced-reads.ts'
import { countTokensRoute } from './routes/count-tokens.ts'
import { dashboardRoutes } from './routes/dashboard.ts'
import { embeddingsRoute } from './routes/embeddings.ts'
import { inferenceRoute } from './routes/inference.ts'
import { healthLive, healthReady, metricsText, openapiJson, welcome } from './routes/service.ts'

/** The description of the API for machines (JSON) and for people (page), made on first request. */
export interface Described {
  readonly json: () => Promise<string>
  readonly page: () => Promise<string>
}

const API_BASE = '/api/v1'
export const ALIAS_BASE = '/v1'

/** Every route, under every base path at which it is reachable. */
export const routeTable = (parts: AppParts, described: Described): readonly Table[] => {
  const api = apiRows(parts)
  return [
    { base: API_BASE, rows: api },
    { base: ALIAS_BASE, rows: api },
    { base: '', rows: serviceRows(parts, described) },
  ]
}

/** The API, below `/api/v1` and, for clients that are given a bare host, below `/v1` (docs/contract/headers.md#paths). */
const apiRows = (parts: AppParts): readonly Row[] => [
  inferenceRoute('chat', parts),
  inferenceRoute('responses', parts),
  inferenceRoute('messages', parts),
  countTokensRoute('messages', { formats: parts.formats, pipeline: parts.answering.pipeline }),
  countTokensRoute('responses', { formats: parts.formats, pipeline: parts.answering.pipeline }),
  embeddingsRoute(parts.answering.pipeline),

  later(
    ['/presets/:slug/responses', '/presets/:slug/messages', '/presets/:slug/chat/completions'],
    () => import('./routes/presets-create.ts'),
    ({ presetsCreate }) => [presetsCreate('responses', parts), presetsCreate('messages', parts), presetsCreate('chat', parts)],
  ),
  later(
    ['/presets', '/presets/:slug', '/presets/:slug/versions', '/presets/:slug/versions/:version', '/presets/:slug/history'],
    async () => ({ ...(await import('./routes/presets.ts')), ...(await import('./routes/preset-usage.ts')) }),
    (file) => [
      file.presetsList({ presets: parts.presets, usageOf: file.createPresetUsage(parts) }),
      file.presetsGet(parts.presets),
      file.presetsPatch(parts),
      file.presetsDelete(parts.presets),
      file.presetsVersions(parts.presets),
      file.presetsVersion(parts.presets),
      file.presetsHistory(parts.presets),
    ],
  ),
  later(
    ['/presets/:slug/from-generation'],
    () => import('./routes/preset-from-generation.ts'),
    ({ presetFromGeneration }) => presetFromGeneration({ ...parts, auditLog: parts.management.auditLog }),
  ),

  later(
    [
      '/keys',
      '/keys/:hash',
      '/keys/:hash/rotate',
      '/workspaces',
      '/workspaces/:id',
      '/workspaces/:id/members',
      '/workspaces/:id/members/:user_id',
      '/workspaces/:id/members/add',
      '/workspaces/:id/members/remove',
      '/workspaces/:id/budgets',
      '/workspaces/:id/budgets/:interval',
      '/credits',
      '/byok',
      '/byok/:id',
      '/activity',
      '/audit-log',
    ],
    () => import('./routes/management.ts'),
    ({ managementRoutes }) => managementRoutes(parts.keys, parts.management),
  ),
  later(
    ['/key', '/auth/key'],
    () => import('./routes/keys.ts'),
    ({ keyCurrent }) => {
      const own = { ...parts, flush: parts.generations.flush }
      return [keyCurrent('/key', own), keyCurrent('/auth/key', own)]
    },
  ),

  ...given(parts.oauth, (oauth) =>
    later(
      ['/auth/keys/code', '/auth/keys'],
      () => import('./routes/oauth.ts'),
      ({ oauthRoutes }) => oauthRoutes(oauth),
    ),
  ),
  ...given(parts.signIn, (signIn) =>
    later(
      ['/sessions', '/sessions/methods', '/sessions/current', '/sessions/:id', '/login-links'],
      () => import('./routes/sessions.ts'),
      ({ sessionRoutes }) => sessionRoutes({ ...signIn, ...parts.management }),
    ),
  ),
  ...parts.resources,
  later(
    ['/guardrail-tests'],
    () => import('./routes/guardrail-tests.ts'),
    ({ guardrailTestsCreate }) => guardrailTestsCreate(parts),
  ),
  later(
    ['/guardrail-tests/requests'],
    () => import('./routes/guardrail-recorded-tests.ts'),
    ({ guardrailRecordedTestsCreate, TRIAL_ANSWER_MS }) => {
      const reads = createPacedReads(parts.clock, TRIAL_ANSWER_MS)
      return guardrailRecordedTestsCreate({ ...parts, auditLog: parts.management.auditLog, reads })
    },
  ),

  later(
    [
      '/models',
      '/models/user',
      '/embeddings/models',
      '/models/count',
      '/models/:author/:slug',
      '/models/:id',
      '/model/:author/:slug',
      '/models/:author/:slug/endpoints',
      '/endpoints/zdr',
    ],
    () => import('./routes/models.ts'),
    (file) => {
      const listing = { ...parts, listed: createListedModels(parts) }
      return [
        file.modelsList('/models', listing),
        file.modelsList('/models/user', listing),
        file.modelsList('/embeddings/models', listing),
        file.modelsCount(listing),
        file.modelsGet('/models/:author/:slug', listing),
        file.modelsGet('/models/:id', listing),
        file.modelGet(listing),
        file.modelsEndpoints(listing),
        file.endpointsZdr(parts.models, parts.health, parts.clock),
      ]
    },
  ),
  later(
    ['/providers'],
    () => import('./routes/providers.ts'),
    ({ providersList }) => providersList(parts.models),
  ),
  later(
    ['/providers/:slug/test'],
    () => import('./routes/provider-test.ts'),
    ({ providerTestCreate }) => providerTestCreate(parts),
  ),
  later(
    ['/generation'],
    () => import('./routes/generation.ts'),
    ({ generationGet }) => generationGet(parts.generations),
  ),
  later(
    ['/generation/content', '/generations', '/generations/stream', '/usage', '/providers/health', '/search', '/service'],
    () => import('./routes/request-log.ts'),
    ({ requestLogRoutes }) => requestLogRoutes(parts, doorsOf(parts)),
  ),
]

export const doorsOf = ({ keys, signIn }: AppParts): Doors => ({ keys, door: signIn?.door ?? null })

const serviceRows = ({ dashboard, oauth, oidc, ready, metrics }: AppParts, described: Described): readonly Row[] => [
  welcome(dashboard === null ? '/docs' : '/dashboard'),
  healthLive(),
  healthReady(ready),
  metricsText(metrics),
  openapiJson(described.json),
  later(
    ['/docs'],
    () => import('./routes/docs.ts'),
    ({ docsPage }) => docsPage(described.page),
  ),
  ...(dashboard === null ? [] : dashboardRoutes(dashboard)),
  ...given(oauth, (part) =>
    later(
      ['/auth', '/auth/consent.js'],
      () => import('./routes/oauth.ts'),
      ({ consentRoutes }) => consentRoutes(part),
    ),
  ),
  ...given(oidc, (part) =>
    later(
      ['/auth/oidc/start', '/auth/oidc/callback'],
      () => import('./routes/oidc.ts'),
      ({ oidcRoutes }) => oidcRoutes(part),
    ),
  ),
]

/** The row of a part that the configuration may switch off. */
const given = <Part>(part: Part | null, rowOf: (part: Part) => Row): readonly Row[] => (part === null ? [] : [rowOf(part)])
