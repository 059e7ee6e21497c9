/** Joins the parts into a service: what is rebuilt from a new file, what runs beside the requests, and how it stops. */
import type { ConfigFile } from '../config-file.ts'
import type { Environment } from '../config.ts'
import { createApp, type App } from '../http/app.ts'
import type { Keys } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { LoginLinks } from '../sign-in/login-links.ts'
import { repeat } from '../lib/repeat.ts'
import { isoTimestamp } from '../lib/clock.ts'
import { createCatalogueStore } from '../storage/service/catalogue-store.ts'
import { createOauthCodeStore } from '../storage/workspaces/oauth-code-store.ts'
import { createSessionStore } from '../storage/workspaces/session-store.ts'
import { createChangeCounter } from '../storage/changes/change-counter.ts'
import { sumUsageDays } from '../storage/usage/sum-usage-days.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { priceOf } from '../inference/evaluations/evaluations.ts'
import { createReadItem } from '../inference/evaluations/item-request.ts'
import { startEvaluations } from '../inference/evaluations/run-evaluations.ts'
import { createTurn } from '../inference/large-steps.ts'
import { serviceStop } from '../inference/service-stop.ts'
import { composeAppParts } from './app-parts.ts'
import { startCacheWatch } from './cache-watch.ts'
import { openCatalogueImports } from './catalogue-imports.ts'
import { housekeepingJobs, startHousekeeping } from './housekeeping.ts'
import { composeModels } from './models.ts'
import { unknownNames } from './named-models.ts'
import { composeParts, type BaseParts } from './parts.ts'
import { createServiceKnowledge } from './service-knowledge.ts'
import { createReloadable } from './reloadable.ts'
import { whileStorageAnswers } from './while-storage-answers.ts'

export interface Service {
  readonly app: App
  readonly keys: Keys
  readonly owner: { readonly workspaceId: string; readonly userId: string }
  /** Stores the address under which this service is reached, for the commands of the shell. */
  noteAddress(url: string): Promise<void>
  readonly links: LoginLinks
  /** Returns true once in the life of a database. */
  claimFirstStart(): Promise<boolean>
  /** Call it if the output of the first start was not seen: the next start then counts as the first again. */
  forgetFirstStart(): Promise<void>
  readonly log: Log
  readonly metrics: Metrics
  /** Uses another file from the next request on. If the file is faulty, throws and changes nothing. */
  reload(file: ConfigFile): void
  /** Records why a file was not accepted, for those who ask; null if it was. */
  noteConfigFault(sentence: string | null): void
  /** Says to balancers that they must leave, and takes requests as before. */
  beginLeave(): void
  /** Refuses new inference; running requests continue. */
  beginDrain(withinMs: number): void
  /** Ends every running answer with an error event. */
  endRuns(): void
  /** Writes everything that waits, and closes storage. */
  close(): Promise<void>
}

/** How often the times of last use of keys are written. */
const KEY_USES_MS = 5000
const REFUSED_HITS_MS = 5000

/** Rows written since the last checkpoint are only in SQLite's log, which is bounded by size too. */
const CHECKPOINT_MS = 30_000

/** How often days that are over are summed, and how many at once: a database of years is summed within minutes after an upgrade. */
const USAGE_DAYS_MS = 60_000
const USAGE_DAYS_AT_ONCE = 30
/** Requests of the last days may still be settled. */
const UNSUMMED_MS = 3 * 86_400_000

/** How often rollouts are checked, that is, how soon one halts after its figures demand it. */
const ROLLOUT_CHECK_MS = 5000

/** Records requests that a killed process had answered. What storage does not accept now waits for the next start. */
const settleWhatWasLeft = async ({ journal, log }: BaseParts, ledger: Pick<Ledger, 'settle'>): Promise<void> => {
  try {
    if (journal === null) return
    const { entries: requests, damaged, kept, faults } = await journal.recover(ledger.settle)
    if (requests > 0) log.warn({ requests }, 'requests that a killed process had answered are recorded now')
    if (damaged > 0) log.error({ damaged, kept }, 'lines of the journal are damaged: the requests in them are not recorded')
    for (const error of faults) log.error({ error }, 'the requests in a file of the journal are not recorded yet')
  } catch (error) {
    log.error({ error }, 'requests that a killed process had answered are not recorded yet')
  }
}

/** `configPath` is where the file was read, for messages about its faults. Throws SettingError, StorageUnavailable. */
export const composeService = async (base: BaseParts, file: ConfigFile, configPath: string | null, env: Environment): Promise<Service> => {
  const { clock, log, storage } = base
  const { database } = storage
  const reloadable = createReloadable(file, base.memoryBytes)
  const parts = composeParts(base, reloadable, env)
  const { management, presets, guardrails, ledger, recorder, running, readiness, observability, onError } = parts

  const { engine } = database
  const knowledge = createServiceKnowledge({ ...base, engine, nodes: parts.nodes, reloadable, configPath })
  const imports = await openCatalogueImports(createCatalogueStore(database), (sentence) => log.error({}, sentence))
  const app = reloadable.built((current) => {
    const models = composeModels(current, configPath, env, imports.current())
    for (const sentence of unknownNames(current, models)) log.warn({}, sentence)
    const appParts = composeAppParts(parts, current, models, knowledge)
    const built = createApp(appParts)
    management.useModels(models)
    return { ...built, pipeline: appParts.answering.pipeline, makeRequest: appParts.makeRequest }
  })

  /** Facts that are gathered in memory and written now and then, and once more at the end. */
  const gathered = [
    { everyMs: KEY_USES_MS, write: management.keys.noteUses, fault: 'last uses of keys not written' },
    { everyMs: REFUSED_HITS_MS, write: parts.refusedHits.write, fault: 'finds of guardrails not written' },
  ]
  const stops = [
    await startCacheWatch({
      clock,
      counter: createChangeCounter(database),
      listen: (listener) => database.server?.listen(clock, listener) ?? (() => undefined),
      caches: [
        ...management.caches,
        { name: 'presets', refresh: presets.refreshCache },
        { name: 'guardrails', refresh: guardrails.refreshCache },
        { name: 'budgets', refresh: ledger.refreshCache },
        {
          name: 'imported prices',
          async refresh() {
            if (await imports.refresh()) reloadable.rebuild()
          },
        },
        ...observability.caches,
      ],
      onChange: database.checkpoint,
      onError: (thrown, doing) => log.warn({ error: thrown }, doing),
    }),
    startHousekeeping({
      clock,
      sharedNow: parts.nodes.sharedClock.now,
      jobs: housekeepingJobs({
        database,
        generations: parts.generationStore,
        contents: parts.contentStore,
        files: parts.fileStore,
        endpointHealth: parts.endpointHealth,
        guardrailHits: parts.guardrailHits,
        waitingTraces: observability.waitingTraces,
        presets: parts.presetStore,
        sessions: createSessionStore(database),
        codes: createOauthCodeStore(database),
        retentionMs: () => reloadable.settings.retentionMs,
      }),
      onError,
    }),
    ...gathered.map(({ everyMs, write, fault }) => repeat(clock, everyMs, write, (thrown) => onError(thrown, fault))),
    repeat(clock, CHECKPOINT_MS, database.checkpoint, (thrown) =>
      log.warn({ error: thrown }, 'the write-ahead log of the database was not written back'),
    ),
    repeat(
      clock,
      USAGE_DAYS_MS,
      async () => {
        const before = isoTimestamp(parts.nodes.sharedClock.now() - UNSUMMED_MS)
        await sumUsageDays(database, { clock, ids: parts.ids, before, limit: USAGE_DAYS_AT_ONCE })
      },
      (thrown) => onError(thrown, 'the usage of days not summed'),
    ),
    repeat(clock, ROLLOUT_CHECK_MS, parts.rollouts.check, (thrown) => log.warn({ error: thrown }, 'rollouts not checked')),
    parts.lag.start(),
    parts.nodePlaces.start(),
  ]
  // Another process may have imported a list between the first reading of the lists and that of the counter.
  if (await imports.refresh()) reloadable.rebuild()
  await parts.nodes.join()
  await Promise.all([parts.meter.connect(), parts.answers.connect()])
  /** They are stopped behind the evaluations, which still need them. */
  const stopsLater = [parts.meter.start(), parts.nodes.start()]
  // Must come first, or the holds of these requests would be charged by their last checkpoint.
  await settleWhatWasLeft(base, ledger)
  const stopLedger = ledger.start()
  const stopEvaluations = startEvaluations({
    store: parts.evaluationStore,
    keys: management.keys,
    readItem: createReadItem(parts.contentStore),
    // Each request is made with the newest configuration.
    makeRequest: (request) => app().makeRequest(request),
    boundOf: async (principal, request) => (await priceOf(app().pipeline, principal, request)).max,
    startTurn: () => createTurn(clock, parts.largeStep),
    flush: recorder.flush,
    // No other node takes up an evaluation that one holds.
    clock: parts.nodes.sharedClock,
    ids: parts.ids,
    onError,
  })
  const stopObservability = await observability.start()

  const writeRest = async (): Promise<void> => {
    await stopEvaluations()
    await stopObservability()
    for (const stop of stopsLater) await stop()
    parts.answers.close()
    await stopLedger()
    for (const { write, fault } of gathered) await write().catch((thrown: unknown) => onError(thrown, fault))
    const lost = await recorder.close()
    if (lost > 0) log.error({ requests: lost }, 'requests are not recorded: neither the database nor the journal could be written')
    await parts.contents.flush()
    base.journal?.close()
  }

  return {
    app: { answer: (request, literalPath, peers) => app().answer(request, literalPath, peers) },
    keys: management.keys,
    owner: storage.owner,
    links: management.links,
    noteAddress: storage.noteAddress,
    claimFirstStart: storage.claimFirstStart,
    forgetFirstStart: storage.forgetFirstStart,
    log,
    metrics: base.metrics,
    reload: reloadable.reload,
    noteConfigFault: knowledge.noteConfigFault,
    beginLeave: readiness.leave,
    beginDrain: readiness.drain,
    endRuns() {
      running.stop(serviceStop())
    },
    async close() {
      for (const stop of stops) stop()
      try {
        const isWritten = await whileStorageAnswers(writeRest(), readiness.storage, clock, (thrown) => onError(thrown, 'storage not asked'))
        const left = base.journal === null ? 'is lost' : 'is in the journal for the next start'
        if (!isWritten) log.error({}, `the database does not answer: what it has not taken of the last requests ${left}`)
      } finally {
        // Whatever failed, the database must be closed: if its file is gone, it is saved on closing.
        await database.close()
      }
    },
  }
}
