/** Builds every part once and hands it to the next. The only file that knows all concrete parts. */
import { inputTokens, outputTokens } from './canonical/usage.ts'
import { createManagement } from './compose-management.ts'
import type { ConfigFile } from './config-file.ts'
import { composeBudgets } from './compose-budgets.ts'
import { behindProxy, SettingError, type Environment, type ServeSettings } from './config.ts'
import { GatewayError } from './errors.ts'
import { messagesFormat } from './formats/anthropic-messages/anthropic-messages.ts'
import { chatFormat } from './formats/openai-chat/openai-chat.ts'
import { responsesFormat } from './formats/openai-responses/openai-responses.ts'
import { guardrailBudgets } from './guardrails/budget-scopes.ts'
import { createGuardrails } from './guardrails/guardrails.ts'
import { createModerate } from './guardrails/moderate.ts'
import { createApp, type App } from './http/app.ts'
import { createCors } from './http/cors.ts'
import { createKeepAlive } from './http/keep-alive.ts'
import { createPrepareCall } from './http/prepare-call.ts'
import { createScreenCall, screenPrepared } from './http/screen-call.ts'
import { createCountTokens } from './inference/count-tokens.ts'
import { createDryRun } from './inference/dry-run.ts'
import { createEmbeddings } from './inference/run-embeddings.ts'
import { createInference, type InferenceParts } from './inference/run-inference.ts'
import type { Run } from './inference/run.ts'
import { createRunningRuns } from './inference/running-runs.ts'
import type { Keys } from './keys/keys.ts'
import { createAdmission, type Limits } from './limits/admission.ts'
import { createBodyRoom } from './limits/body-room.ts'
import { createRateMeter } from './limits/gcra.ts'
import { createLoopLag } from './limits/loop-lag.ts'
import { isoTimestamp, systemClock } from './lib/clock.ts'
import { randomFraction, systemIds } from './lib/id.ts'
import { repeat } from './lib/repeat.ts'
import { buildModels, CatalogueError } from './models/build-models.ts'
import catalogue from './models/catalogue-data.json' with { type: 'json' }
import type { Catalogue } from './models/catalogue-schema.ts'
import type { Models } from './models/models.ts'
import { derivedKeys } from './root-secret.ts'
import { openPresetSeal } from './presets/preset-seal.ts'
import { createPresets } from './presets/presets.ts'
import { providerRegistry } from './providers/registry.ts'
import { createLoadMedia } from './providers/load-media.ts'
import { createSafeFetch, type SafeFetch } from './providers/safe-fetch.ts'
import { createReachability, probeAddress, probeNothing } from './providers/reachability.ts'
import { createUpstream } from './providers/upstream.ts'
import { createCredentials } from './routing/credentials.ts'
import { createHealth } from './routing/health.ts'
import type { RoutingState } from './routing/routing-state.ts'
import { createSticky } from './routing/sticky.ts'
import { openStorage } from './open-storage.ts'
import { probeStorage } from './probe-storage.ts'
import { SANDBOX_PROVIDERS, sandboxModels } from './sandbox-models.ts'
import { createChangeCounter } from './storage/change-counter.ts'
import { createGenerationStore } from './storage/generation-store.ts'
import { createGuardrailAssignmentStore } from './storage/guardrail-assignment-store.ts'
import { createGuardrailStore } from './storage/guardrail-store.ts'
import { createFactStore } from './storage/fact-store.ts'
import { createPresetStore } from './storage/preset-store.ts'
import { pruneLedger } from './storage/prune-ledger.ts'
import { utcDay } from './storage/usage-windows.ts'
import { createLog } from './telemetry/log.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { observeRuns } from './inference/observe-runs.ts'
import { VERSION } from './version.ts'

export interface Service {
  readonly app: App
  readonly keys: Keys
  readonly owner: { readonly workspaceId: string; readonly userId: string }
  /** True once in the life of a database. */
  claimFirstStart(): Promise<boolean>
  readonly log: ReturnType<typeof createLog>['log']
  /** Serves by another file from the next request on. Throws, and changes nothing, where the file is at fault. */
  reload(file: ConfigFile): void
  /** Refuses new inference; what runs goes on. */
  beginDrain(): void
  /** Ends every answer that still runs with an error event. */
  endRuns(): void
  /** Writes what waits, and closes storage. */
  close(): Promise<void>
}

/** Changes by other processes are seen within this time. */
const POLL_MS = 500
const KEEP_ALIVE_MS = 10_000
const COMMIT_SILENCE_MS = 2000
/** Filters that take longer over one request refuse it. */
const SCREEN_MS = 2000
const CLEAN_UP_MS = 60 * 60 * 1000
const CLEAN_UP_ROWS = 1000
const DAY_MS = 24 * 60 * 60 * 1000
const PING_MS = 1000
/** What requests have written since is in the log alone, which is bounded by size too. */
const CHECKPOINT_MS = 30_000
/** Keys whose rates are remembered, twice. */
const RATE_NAMES_MAX = 100_000

export const composeService = async (settings: ServeSettings, file: ConfigFile, env: Environment): Promise<Service> => {
  const [clock, ids] = [systemClock, systemIds]
  const { log, flush: flushLog, dropped: droppedLines } = createLog(settings.logLevel, clock)
  const metrics = createMetrics()
  metrics.gauge('patchbay_log_lines_dropped', 'Log lines that nobody took in time.', droppedLines)
  const onError = (thrown: unknown, doing: string): void => log.error({ error: thrown }, doing)
  const storage = await openStorage(settings, {
    service: true,
    onError: (error) => onError(error, 'database'),
    warn: (sentence) => log.warn({}, sentence),
  })
  const { database, owner, claimFirstStart } = storage

  const presetSeal = await openPresetSeal(createFactStore(database), derivedKeys(storage.secret, 'preset-key'), ids)
  const presetStore = createPresetStore(database, presetSeal)
  const presets = createPresets({ store: presetStore, clock, ids })
  const guardrails = createGuardrails({
    store: createGuardrailStore(database),
    assignments: createGuardrailAssignmentStore(database),
    clock,
    ids,
  })
  const generationStore = createGenerationStore(database)
  const { ledger, budgets, credits, budgeted, recorder, configure } = composeBudgets({
    database,
    clock,
    ids,
    log,
    metrics,
    file: file.budgets,
    sources: [guardrailBudgets(guardrails)],
  })
  const management = createManagement({ storage, clock, ids, budgets, credits, seal: presetSeal, flush: recorder.flush, onError })
  const { keys } = management
  const keepAlive = createKeepAlive(clock, KEEP_ALIVE_MS)
  const observe = observeRuns(metrics, log)

  const refusedKeys = metrics.counter('patchbay_credentials_refused_total', 'Provider keys set aside because the provider refused them.', [
    'provider',
  ])
  let providerInFlight = providerInFlightOf(file)
  // It outlives a reload: what was learned of a provider holds whatever the file says.
  const routing: RoutingState = {
    health: createHealth({ clock, inFlightMax: () => providerInFlight, neverEjected: SANDBOX_PROVIDERS }),
    sticky: createSticky({ clock }),
    credentials: createCredentials({
      clock,
      onRefused(provider, index) {
        refusedKeys.add([provider])
        log.error({ provider, key_number: index + 1 }, 'a provider refuses a key of ours: replace it, or pay its bill')
      },
    }),
    random: randomFraction,
  }

  const running = createRunningRuns()
  const settle = (run: Run): void => {
    run.request.pass?.end(inputTokens(run.usage) + outputTokens(run.usage))
    running.ended(run)
    recorder.add(budgeted.settlement(run))
    observe(run)
  }
  metrics.gauge('patchbay_running_generations', 'Generations being answered.', () => running.size)

  const lag = createLoopLag(clock)
  let limits = limitsOf(file)
  const admission = createAdmission({ clock, meter: createRateMeter(RATE_NAMES_MAX), lag, limits: () => limits })
  let bodyBytes = bodyBytesOf(file)
  const bodyRoom = createBodyRoom(() => bodyBytes)
  metrics.gauge('patchbay_request_body_bytes', 'Bytes of request bodies in memory.', () => bodyRoom.bytes)
  metrics.gauge('patchbay_requests_inside', 'Inference requests that were let in.', () => admission.inside)
  metrics.gauge('patchbay_requests_waiting', 'Inference requests that wait to be let in.', () => admission.waiting)

  const storageState = probeStorage(database, clock, (thrown) => onError(thrown, 'storage takes no writes'))
  let draining = false
  const ready = async (): Promise<string | null> => {
    if (draining) return 'draining'
    const late = new Promise<string>((resolve) => clock.after(PING_MS, () => resolve('storage')))
    return Promise.race([late, storageState()])
  }

  /** Everything that depends on the file. What runs while it is rebuilt keeps the parts that it began with. */
  const serve = (current: ConfigFile): App => {
    const seconds = (value: number): number => value * 1000
    const models = modelsOf(current, settings.config, env)
    management.useModels(models)
    const upstream = createUpstream(
      clock,
      {
        streamHeadersMs: seconds(current.timeouts.stream_headers),
        wholeHeadersMs: seconds(current.timeouts.whole_headers),
        idleMs: seconds(current.timeouts.idle),
      },
      createReachability({ clock, connectMs: seconds(current.timeouts.connect), probe: behindProxy(env) ? probeNothing : probeAddress }),
    )
    const safeMedia = (trustedHosts: readonly string[]): SafeFetch =>
      createSafeFetch({ clock, trustedHosts, trustedBy: 'media.trusted_hosts', plainHttp: true })
    const inference: InferenceParts = {
      models,
      adapters: providerRegistry,
      context: { upstream, clock, ...(current.media.fetch ? { loadMedia: createLoadMedia(safeMedia(current.media.trusted_hosts)) } : {}) },
      clock,
      ids,
      routing,
      firstTokenMs: seconds(current.timeouts.first_token),
      totalMs: seconds(current.timeouts.total),
      began: running.began,
      settle,
    }
    const safeFetch = createSafeFetch({ clock, trustedHosts: current.moderation.trusted_hosts })
    const moderate = createModerate(current.moderation, safeFetch, clock)
    const screenCall = createScreenCall({ ...inference, guardrails, moderate, screenMs: SCREEN_MS })
    return createApp({
      formats: { chat: chatFormat, responses: responsesFormat, messages: messagesFormat },
      answering: {
        prepareCall: screenPrepared(createPrepareCall(presets, management.workspaces.defaults), screenCall),
        customerKeys: (caller) => management.customerKeys.forCaller(caller.workspaceId, caller),
        runInference: createInference(inference),
        admit: budgeted.admit,
        dryRun: createDryRun(inference),
        keepAlive,
        clock,
        commitSilenceMs: COMMIT_SILENCE_MS,
        unreadMs: seconds(current.timeouts.client_unread),
        providerFailure: current.errors.provider_failure,
        onInternalError: (thrown) => onError(thrown, 'a stream could not be rendered'),
      },
      countTokens: createCountTokens(inference),
      runEmbeddings: createEmbeddings(inference),
      screenCall,
      keys,
      management,
      admission,
      presets,
      guardrails,
      models,
      health: routing.health,
      generations: { store: generationStore, flush: recorder.flush },
      figures: ledger.figures,
      ready,
      isDraining: () => draining,
      clock,
      ids,
      log,
      metrics,
      cors: createCors(current.cors.origins),
      bodyRoom,
      bodyLimits: {
        maxBytes: current.limits.max_body_bytes,
        totalMs: seconds(current.timeouts.body),
        idleMs: seconds(current.timeouts.body_idle),
      },
      version: VERSION,
    })
  }

  let served = serve(file)
  let retentionDays = file.generations.retention_days
  const counter = createChangeCounter(database)
  let seen: number | null = await counter.read()
  const stopLedger = ledger.start()
  const stops = [
    lag.start(),
    repeat(
      clock,
      POLL_MS,
      async () => {
        const now = await counter.read()
        if (now === seen) return
        presets.refreshCache()
        guardrails.refreshCache()
        ledger.refreshCache()
        await management.refreshCaches()
        // Only then: what failed is tried again.
        seen = now
        await database.checkpoint()
      },
      // What is known goes on being served meanwhile. All of it is read again once storage answers, whatever the counter says.
      (thrown) => {
        seen = null
        log.warn({ error: thrown }, 'storage does not answer')
      },
    ),
    repeat(
      clock,
      CHECKPOINT_MS,
      () => database.checkpoint(),
      (thrown) => log.warn({ error: thrown }, 'no checkpoint'),
    ),
    repeat(
      clock,
      CLEAN_UP_MS,
      async () => {
        await deleteAll((limit) => generationStore.deleteOlderThan(isoTimestamp(clock.now() - retentionDays * DAY_MS), limit))
        await deleteAll((limit) => pruneLedger(database, utcDay(isoTimestamp(clock.now() - retentionDays * DAY_MS)), limit))
        await deleteAll((limit) => presetStore.deleteIdempotencyKeys(isoTimestamp(clock.now() - DAY_MS), limit))
      },
      (thrown) => onError(thrown, 'old records not deleted'),
    ),
  ]

  return {
    app: { parameterPaths: served.parameterPaths, answer: (request, literalPath) => served.answer(request, literalPath) },
    keys,
    owner,
    claimFirstStart,
    log,
    reload(next) {
      served = serve(next)
      limits = limitsOf(next)
      providerInFlight = providerInFlightOf(next)
      bodyBytes = bodyBytesOf(next)
      configure(next.budgets)
      retentionDays = next.generations.retention_days
    },
    beginDrain() {
      draining = true
    },
    endRuns() {
      running.stop(new GatewayError('provider_unavailable', 'The service is restarting. Send the request again.'))
    },
    async close() {
      for (const stop of stops) stop()
      await stopLedger()
      await recorder.close()
      await database.close()
      flushLog()
    },
  }
}

const limitsOf = ({ limits }: ConfigFile): Limits => ({
  requestsPerMinute: limits.requests_per_minute,
  tokensPerMinute: limits.tokens_per_minute,
  keyConcurrency: limits.key_concurrency,
  most: limits.in_flight,
  line: limits.queue,
  waitMs: limits.queue_seconds * 1000,
  loopLagMs: limits.loop_lag_ms,
})

/** A request has one attempt running at a time, so without a setting of its own a provider bears what the process does. */
const providerInFlightOf = ({ limits }: ConfigFile): number => limits.provider_in_flight || limits.in_flight || Number.POSITIVE_INFINITY

/** One body of the largest size has room in any case. */
const bodyBytesOf = ({ limits }: ConfigFile): number => Math.max(limits.body_bytes_in_flight, limits.max_body_bytes)

/** In small portions, so that no write waits long for another. */
const deleteAll = async (deleteSome: (limit: number) => Promise<number>): Promise<void> => {
  while ((await deleteSome(CLEAN_UP_ROWS)) === CLEAN_UP_ROWS);
}

const modelsOf = (file: ConfigFile, path: string | null, env: Environment): Models => {
  try {
    return buildModels(catalogue as Pick<Catalogue, 'providers' | 'models'>, file, env, file.sandbox ? sandboxModels : [])
  } catch (thrown) {
    if (thrown instanceof CatalogueError) throw new SettingError(path === null ? thrown.message : `${path}: ${thrown.message}`)
    throw thrown
  }
}
