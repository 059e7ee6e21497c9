/** A pipeline for which a test names only the parts that it is about, and requests for it. */
import type { ClientDialect } from '../../src/canonical/call.ts'
import { FORMATS } from '../../src/formats/formats.ts'
import { type Admit, createAdmit } from '../../src/inference/admit/admit.ts'
import type { Admitted } from '../../src/inference/admitted.ts'
import { createResponseCache } from '../../src/inference/cache/response-cache.ts'
import { createLargeSteps } from '../../src/inference/large-steps.ts'
import { createPipeline, type Pipeline, type PipelineParts } from '../../src/inference/pipeline.ts'
import { prepare } from '../../src/inference/prepare/prepare.ts'
import { Refused } from '../../src/inference/refused.ts'
import type { Prepared, Received } from '../../src/inference/request.ts'
import type { Principal } from '../../src/keys/principal.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { JsonBody } from '../../src/lib/json/json-body.ts'
import { createModels } from '../../src/models/models.ts'
import { createPlugins } from '../../src/plugins/plugins.ts'
import { pluginSettings } from '../../src/plugins/settings.ts'
import { providerRegistry } from '../../src/providers/registry.ts'
import { createCatalogueMemory } from '../../src/tools/deferred/catalogue-memory.ts'
import { createToolKit } from '../../src/tools/kit.ts'
import { createMemoryAnswers } from '../../src/storage/answers/memory-answers.ts'
import { createSealedResults } from '../../src/tools/sealed-results.ts'
import type { MakeTool } from '../../src/tools/tool.ts'
import { toolSettings } from '../../src/tools/settings.ts'
import { createSearchEngines, type SearchEngines } from '../../src/tools/web-search/search-engines.ts'
import { createFakeIds } from './fake-ids.ts'
import { testSeal } from './test-seal.ts'
import { createTestRouting } from './test-routing.ts'

export const PRINCIPAL: Principal = {
  hash: 'ab'.repeat(32),
  kind: 'inference',
  workspaceId: '00000000-0000-4000-8000-000000000001',
  userId: 'user_1',
  strict: false,
  limit: null,
  rpmLimit: null,
  tpmLimit: null,
  providerFailure: null,
  externalUser: null,
  isReplaced: false,
}

export const receivedFrom = (
  body: Readonly<Record<string, unknown>>,
  { dialect = 'chat', ...more }: Partial<Received> & { readonly dialect?: ClientDialect } = {},
): Received => {
  const text = JSON.stringify(body)
  return {
    apiType: 'completions',
    format: FORMATS[dialect],
    body: JsonBody.read(text),
    bytes: text.length,
    principal: PRINCIPAL,
    permit: null,
    requestId: 'req-1',
    userAgent: null,
    referer: null,
    headers: { strict: false, sessionId: null, vendor: null, trace: null, sent: null },
    ...more,
  }
}

/** Admits every request. */
export const admittingAll = (clock: Clock): Admit =>
  createAdmit({
    ledger: {
      scopesOf: () => [],
      admit: () => Promise.reject(new Error('Nothing bounds this caller.')),
      grow: () => Promise.reject(new Error('Nothing bounds this caller.')),
    },
    durations: { expectedMs: () => 1000 },
    settings: () => ({ unknownPrice: 'refuse', assumedPrices: { prompt: 1, completion: 1 }, emptyAnswers: 'told', maxOutputTokens: 100 }),
    clock,
    ids: createFakeIds(),
    turn: () => undefined,
  })

const noEngines = (clock: Clock): SearchEngines => createSearchEngines(toolSettings.parse({}).web_search, clock)

/** Has no presets, defaults, guardrails, customers' keys, models or upstream, except those that are given. */
export const partsOfPipeline = (clock: Clock, more: Partial<PipelineParts> = {}): PipelineParts => ({
  presets: {
    serve() {
      throw new Error('A preset was asked for.')
    },
    find: () => null,
  },
  openaiPrompts: false,
  isTrustedMediaHost: () => false,
  defaultsOf: () => null,
  guardrails: { effective: () => null },
  customerKeysOf: () => null,
  plugins: createPlugins({
    settings: pluginSettings.parse({}),
    fusionPresets: {},
    moderationEndpoints: [],
    models: createModels([], []),
    random: () => 0,
  }),
  moderate: async () => {},
  moderationEndpoint: null,
  noteRefusedHits: () => undefined,
  judgeModel: null,
  responseCache: createResponseCache({
    store: createMemoryAnswers(MEBIBYTE, clock),
    seal: testSeal,
    secret: new Uint8Array(32),
    clock,
    onError(thrown) {
      throw thrown
    },
  }),
  screenMs: 1000,
  models: createModels([], []),
  readDocument: () => Promise.reject(new Error('There are no documents here.')),
  readByOcr: null,
  fetchPage: () => Promise.reject(new Error('There is no internet here.')),
  toolKit: createToolKit({
    clock,
    settings: toolSettings.parse({}),
    searchEngines: noEngines(clock),
    webFetch: unreachable,
    catalogues: createCatalogueMemory(),
    files: unreachable,
    commands: null,
  }),
  catalogues: createCatalogueMemory(),
  searchEngines: noEngines(clock),
  toolSettings: () => toolSettings.parse({}),
  isDraining: () => false,
  toolsEnd: new AbortController().signal,
  onFault: (thrown) => {
    throw thrown
  },
  sealedResults: createSealedResults(clock, testSeal),
  ids: createFakeIds(),
  routing: createTestRouting(clock),
  admit: admittingAll(clock),
  adapters: providerRegistry,
  context: { clock, upstream: { post: () => Promise.reject(new Error('There is no upstream here.')) } },
  clock,
  largeStep: createLargeSteps(clock),
  firstTokenMs: 120_000,
  totalMs: 1_800_000,
  running: { began: () => undefined },
  settle: () => {},
  tracing: { watch: () => null },
  contents: { watch: () => null },
  ...more,
})

const MEBIBYTE = 1024 * 1024

const unreachable: MakeTool = () => {
  throw new Error('There is no internet here.')
}

export const pipelineOf = (clock: Clock, more: Partial<PipelineParts> = {}): Pipeline => createPipeline(partsOfPipeline(clock, more))

export const preparedFrom = (clock: Clock, received: Received, more: Partial<PipelineParts> = {}): Promise<Prepared> =>
  prepare(received, { ...partsOfPipeline(clock, more), turn: () => undefined })

/** Returns the admitted request; throws the error if it was refused. */
export const admittedBy = async (pipeline: Pick<Pipeline, 'admit'>, received: Received): Promise<Admitted> => {
  const admitted = await pipeline.admit(received)
  if (admitted instanceof Refused) throw admitted.error
  return admitted
}
