/** Builds what depends on the configuration file. Work that runs during a reload keeps the parts with which it began. */
import { join } from 'node:path'

import type { ConfigFile } from '../config-file.ts'
import { FORMATS } from '../formats/formats.ts'
import { createModerate } from '../guardrails/moderate.ts'
import type { AppParts, SignIn } from '../http/app-parts.ts'
import { createCors } from '../http/access/cors.ts'
import { createDashboardFiles } from '../http/dashboard/files.ts'
import { createOwnOrigin, type OwnOrigin } from '../http/access/own-origin.ts'
import type { OidcRouteParts } from '../http/routes/oidc.ts'
import type { OauthRouteParts } from '../http/routes/oauth.ts'
import { createSessionDoor } from '../http/access/session-door.ts'
import { createPipeline, type Pipeline } from '../inference/pipeline.ts'
import type { ServiceKnowledge } from '../contract/service-facts.ts'
import { rangeOf } from '../lib/network/address-ranges.ts'
import type { Clock } from '../lib/clock.ts'
import { PACKAGE_DIRECTORY } from '../lib/entry-points.ts'
import { processProxy } from '../lib/network/outgoing-proxy.ts'
import { trustedHosts } from '../lib/network/trusted-hosts.ts'
import type { Models } from '../models/models.ts'
import { createLoadMedia } from '../providers/media/load-media.ts'
import { createProofMakers } from '../providers/thinking/proof-makers.ts'
import type { ProviderContext } from '../providers/provider.ts'
import { createReachability, probeUnless } from '../providers/transport/reachability.ts'
import { providerRegistry } from '../providers/registry.ts'
import { createRefusedProofs } from '../providers/thinking/refused-proofs.ts'
import { createLearntRoleRules } from '../providers/roles/role-rules.ts'
import { createIdentityProvider } from '../sign-in/identity-provider.ts'
import type { OidcSettings } from '../sign-in/oidc-settings.ts'
import { fetchBy } from './fetch-by.ts'
import { signInPlace } from '../sign-in/login-links.ts'
import { createSafeFetch } from '../providers/transport/safe-fetch.ts'
import { createUpstream } from '../providers/transport/upstream.ts'
import { createReadByOcr } from '../inference/files/read-by-ocr.ts'
import { createPlugins } from '../plugins/plugins.ts'
import { createCatalogueMemory } from '../tools/deferred/catalogue-memory.ts'
import { createMakeRequest } from '../inference/own-request.ts'
import { filesTool } from '../tools/files.ts'
import { createToolKit } from '../tools/kit.ts'
import { createCommandRunner } from '../tools/sandbox/run-commands.ts'
import { createFetchPage, type FetchPage } from '../tools/web-fetch/fetch-page.ts'
import { createReadPage } from '../tools/web-fetch/read-page.ts'
import { webFetchTool } from '../tools/web-fetch/web-fetch.ts'
import { createSealedResults } from '../tools/sealed-results.ts'
import { createSearchEngines } from '../tools/web-search/search-engines.ts'
import { VERSION } from '../version.ts'
import type { Parts } from './parts.ts'
import { composeFiles, composeResources } from './resources.ts'

const COMMIT_SILENCE_MS = 2000
/** A request whose filters take longer than this is refused. */
const SCREEN_MS = 2000

export const composeAppParts = (parts: Parts, file: ConfigFile, models: Models, knowledge: ServiceKnowledge): AppParts => {
  const { clock, ids, management, presets, guardrails, routing, recorder, readiness, onError } = parts
  const pipeline = composePipeline(parts, file, models)
  return {
    formats: FORMATS,
    answering: {
      pipeline,
      keepAlive: parts.keepAlive,
      clock,
      commitSilenceMs: COMMIT_SILENCE_MS,
      unreadMs: milliseconds(file.timeouts.client_unread),
      providerFailure: file.errors.provider_failure,
      onInternalError: (thrown) => onError(thrown, 'a stream could not be rendered'),
      onUnread: parts.bodyRoom.unread,
    },
    keys: management.keys,
    sessions: management.sessions,
    management,
    resources: composeResources(parts, { file, pipeline }),
    admission: parts.admission,
    presets,
    makeRequest: createMakeRequest(pipeline, clock),
    guardrails,
    screenLimits: { clock, screenMs: SCREEN_MS },
    largeStep: parts.largeStep,
    models,
    health: routing.health,
    generations: { store: parts.generationStore, list: parts.generationList, usage: parts.usageSeries, flush: recorder.flush },
    contents: { store: parts.contentStore, flush: parts.contents.flush },
    searching: parts.searching,
    endpointHealth: parts.endpointHealth,
    credentials: routing.credentials,
    knowledge,
    onError,
    figures: parts.ledger.figures,
    ready: readiness.ready,
    isLeaving: () => readiness.leaving,
    isDraining: () => readiness.draining,
    clock,
    ids,
    log: parts.log,
    metrics: parts.metrics,
    cors: createCors(file.cors.origins),
    trustedProxies: file.server.trusted_proxies.flatMap((text) => rangeOf(text) ?? []),
    dashboard: file.dashboard
      ? { files: createDashboardFiles(join(PACKAGE_DIRECTORY, 'dashboard/dist')), prefix: pathPrefix(file), ids }
      : null,
    signIn: file.dashboard || file.oauth.enabled ? composeSignIn(parts, file) : null,
    oidc: file.dashboard && file.auth.oidc !== undefined ? composeOidc(parts, file, file.auth.oidc) : null,
    oauth: file.oauth.enabled ? composeOauth(parts, file) : null,
    bodyRoom: parts.bodyRoom,
    bodyLimits: {
      maxBytes: file.limits.max_body_bytes,
      totalMs: milliseconds(file.timeouts.body),
      idleMs: milliseconds(file.timeouts.body_idle),
      pause: parts.largeStep,
    },
    version: VERSION,
  }
}

const instanceIdOf = ({ storage }: Parts): string => storage.owner.workspaceId.replaceAll('-', '').slice(0, 16)

const publicUrlOf =
  ({ host }: Parts, { server }: ConfigFile) =>
  (headers: Headers): string =>
    signInPlace(server.public_url, `http://${headers.get('host') ?? host}`)

const composeSignIn = (parts: Parts, file: ConfigFile): SignIn => {
  const { sessions, links } = parts.management
  return {
    sessions,
    links,
    attempts: parts.attempts,
    door: createSessionDoor({ sessions, ownOrigin: ownOriginOf(parts, file), instanceId: instanceIdOf(parts) }),
    publicUrl: publicUrlOf(parts, file),
    oidcIssuer: file.dashboard ? (file.auth.oidc?.issuer ?? null) : null,
  }
}

const ownOriginOf = ({ host }: Parts, { server }: ConfigFile): OwnOrigin => createOwnOrigin({ host, publicUrl: server.public_url })

const composeOidc = (parts: Parts, file: ConfigFile, oidc: OidcSettings): OidcRouteParts => {
  const { clock, ids, log, management, storage } = parts
  const safeFetch = createSafeFetch({ clock, trustedHosts: oidc.trusted_hosts, trustedBy: 'auth.oidc.trusted_hosts' })
  return {
    provider: createIdentityProvider(oidc, fetchBy(safeFetch)),
    links: management.links,
    attempts: parts.attempts,
    ownOrigin: ownOriginOf(parts, file),
    publicUrl: publicUrlOf(parts, file),
    peppers: management.signInPeppers,
    instanceId: instanceIdOf(parts),
    workspaceId: storage.owner.workspaceId,
    prefix: pathPrefix(file),
    clock,
    ids,
    log,
  }
}

const composeOauth = ({ management, codeAttempts, guardrails, ids }: Parts, file: ConfigFile): OauthRouteParts => ({
  codes: management.codes,
  settings: { allowedCallbackHosts: file.oauth.allowed_callback_hosts ?? null, allowWithoutPkce: file.oauth.allow_without_pkce },
  attempts: codeAttempts,
  workspaces: management.workspaces,
  keys: management.keys,
  guardrails,
  ids,
  prefix: pathPrefix(file),
})

const composePipeline = (parts: Parts, file: ConfigFile, models: Models): Pipeline => {
  const { clock, management } = parts
  const catalogues = createCatalogueMemory()
  const safeFetch = createSafeFetch({ clock, trustedHosts: file.moderation.trusted_hosts, trustedBy: 'moderation.trusted_hosts' })
  const searchEngines = createSearchEngines(file.tools.web_search, clock)
  const fetchPage = composeFetchPage(clock)
  return createPipeline({
    presets: parts.presets,
    openaiPrompts: file.presets.openai_prompts,
    isTrustedMediaHost: trustedHosts(file.media.trusted_hosts),
    defaultsOf: management.workspaces.defaults,
    guardrails: parts.guardrails,
    customerKeysOf: (caller) => management.customerKeys.forCaller(caller.workspaceId, caller),
    responseCache: parts.answers.responseCache,
    judgeModel: file.plugins.alignment?.model ?? null,
    moderationEndpoint: Object.keys(file.moderation.endpoints)[0] ?? null,
    moderate: createModerate(file.moderation, safeFetch, clock),
    noteRefusedHits: parts.refusedHits.note,
    screenMs: SCREEN_MS,
    plugins: createPlugins({
      settings: file.plugins,
      fusionPresets: file.tools.fusion.presets,
      moderationEndpoints: Object.keys(file.moderation.endpoints),
      models,
      random: parts.routing.random,
    }),
    models,
    readDocument: parts.readDocument,
    fetchPage,
    readByOcr: createReadByOcr(file.plugins.file_parser, clock),
    toolKit: createToolKit({
      clock,
      settings: file.tools,
      searchEngines,
      webFetch: webFetchTool({ settings: file.tools.web_fetch, clock, fetchPage, readPage: createReadPage(parts.readDocument) }),
      catalogues,
      files: filesTool(composeFiles(parts, file), parts.ids),
      commands: createCommandRunner(file.tools.shell, clock, parts.ids),
    }),
    catalogues,
    searchEngines,
    toolSettings: () => file.tools,
    sealedResults: createSealedResults(clock, parts.seal),
    isDraining: () => parts.readiness.draining,
    toolsEnd: parts.readiness.toolsEnd,
    onFault: parts.onError,
    ids: parts.ids,
    routing: parts.routing,
    admit: parts.admit,
    adapters: providerRegistry,
    context: providerContext(clock, file),
    answerRoom: parts.answerRoom,
    largeStep: parts.largeStep,
    clock,
    firstTokenMs: milliseconds(file.timeouts.first_token),
    totalMs: milliseconds(file.timeouts.total),
    running: parts.running,
    settle: parts.settle,
    contents: parts.contents,
    tracing: parts.observability.tracing,
  })
}

/** No setting opens a private host to a model. */
const composeFetchPage = (clock: Clock): FetchPage =>
  createFetchPage(createSafeFetch({ clock, trustedHosts: [], trustedBy: null, plainHttp: true }), clock, `patchbay/${VERSION}`)

const providerContext = (clock: Clock, { timeouts, media }: ConfigFile): ProviderContext => {
  const connectMs = milliseconds(timeouts.connect)
  const upstream = createUpstream(
    clock,
    {
      streamHeadersMs: milliseconds(timeouts.stream_headers),
      wholeHeadersMs: milliseconds(timeouts.whole_headers),
      idleMs: milliseconds(timeouts.idle),
    },
    createReachability({ clock, connectMs, probe: probeUnless(processProxy) }),
  )
  const context = {
    upstream,
    clock,
    proofMakers: createProofMakers(),
    roleRules: createLearntRoleRules(),
    refusedProofs: createRefusedProofs(),
  }
  if (!media.fetch) return context
  const safeFetch = createSafeFetch({ clock, trustedHosts: media.trusted_hosts, trustedBy: 'media.trusted_hosts', plainHttp: true })
  return { ...context, loadMedia: createLoadMedia(safeFetch) }
}

/** A proxy in front of the service strips this prefix from paths; links to the service must contain it. */
const pathPrefix = ({ server }: ConfigFile): string =>
  server.public_url === undefined ? '' : new URL(server.public_url).pathname.replace(/\/$/, '')

const milliseconds = (seconds: number): number => seconds * 1000
