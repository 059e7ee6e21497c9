/** Builds, once, every part that outlives a reload. */
import type { Environment } from '../config.ts'
import { FORMATS } from '../formats/formats.ts'
import { guardrailBudgets } from '../guardrails/budget-scopes.ts'
import { createRefusedHits } from '../guardrails/refused-hits.ts'
import { createGuardrails } from '../guardrails/guardrails.ts'
import { createKeepAlive } from '../http/response/keep-alive.ts'
import { createContents } from '../inference/contents/keep-contents.ts'
import { observeAnswers } from '../inference/settle/observe-answers.ts'
import { createLargeSteps, createTurn } from '../inference/large-steps.ts'
import { createRunningAnswers } from '../inference/running-answers.ts'
import { createSettle } from '../inference/settle/settle.ts'
import type { EffectiveSetting } from '../contract/service-facts.ts'
import type { Clock } from '../lib/clock.ts'
import { createReadDocument } from '../lib/documents/read-document.ts'
import type { IdSource } from '../lib/id.ts'
import type { Storage } from '../open-storage.ts'
import { createAttempts } from '../sign-in/attempts.ts'
import { createPresets } from '../presets/presets.ts'
import { createRollouts } from '../presets/rollouts.ts'
import { probeStorage } from '../probe-storage.ts'
import { createEndpointHealthStore } from '../storage/nodes/endpoint-health.ts'
import { createSearchStore } from '../storage/generations/search-store.ts'
import { createFileStore } from '../storage/files/file-store.ts'
import { createContentStore } from '../storage/generations/content-store.ts'
import { createGenerationList } from '../storage/generations/generation-list.ts'
import { createGuardrailHitStore } from '../storage/guardrails/guardrail-hours.ts'
import { createGenerationStore } from '../storage/generations/generation-store.ts'
import { createGuardrailAssignmentStore } from '../storage/guardrails/guardrail-assignment-store.ts'
import { createGuardrailStore } from '../storage/guardrails/guardrail-store.ts'
import type { Journal } from '../storage/journal.ts'
import { createUsageSeries } from '../storage/usage/usage-series.ts'
import { createPresetStore } from '../storage/presets/preset-store.ts'
import { createPresetTestStore } from '../storage/presets/preset-test-store.ts'
import type { LimitStore } from '../storage/limits/limit-store.ts'
import { createEvaluationStore } from '../storage/presets/evaluation-store.ts'
import { createRolloutStore } from '../storage/presets/rollout-store.ts'
import type { ByteSeal, TextSeal } from '../storage/rows/seal.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { composeBudgets } from './budgets.ts'
import { composeLimits } from './limits.ts'
import { composeManagement } from './management.ts'
import { composeObservability } from './observability.ts'
import { composeNodes, knowledgeOf } from './nodes.ts'
import { createReadiness } from './readiness.ts'
import type { Reloadable } from './reloadable.ts'
import { composeResponseCache, type RedisPlace } from './response-cache.ts'
import { composeRouting } from './routing.ts'

/** The parts on which a service is built. */
export interface BaseParts {
  readonly clock: Clock
  /** Reads the processor time of this thread. */
  readonly cpuMs: () => number
  readonly ids: IdSource
  readonly log: Log
  readonly metrics: Metrics
  readonly storage: Storage
  /** The address to listen on. */
  readonly host: string
  /** The memory of the container, or of the machine if there is none. */
  readonly memoryBytes: number
  /** Keeps finished requests until storage has them; null if the data directory cannot hold it. */
  readonly journal: Journal | null
  readonly startSettings: readonly EffectiveSetting[]
  /** Seals stored secrets of presets, and stored answers whose content is shown only once. */
  readonly seal: TextSeal & ByteSeal
  /** The id of this process among the nodes on one database. */
  readonly node: string
  /** The store in which nodes count limits together; null if there is none. */
  readonly limitStore: LimitStore | null
  /** The Redis that nodes share for other data; null if there is none. */
  readonly redis: RedisPlace | null
}

const KEEP_ALIVE_MS = 10_000

export type Parts = ReturnType<typeof composeParts>

export const composeParts = (base: BaseParts, reloadable: Reloadable, env: Environment) => {
  const { clock, ids, log, metrics, storage, journal, seal } = base
  const { database } = storage
  const onError = (thrown: unknown, doing: string): void => log.error({ error: thrown }, doing)

  const largeStep = createLargeSteps(clock)
  const startTurn = () => createTurn(clock, largeStep)
  const presetStore = createPresetStore({ database, seal, startTurn })
  const guardrails = createGuardrails({
    store: createGuardrailStore(database),
    assignments: createGuardrailAssignmentStore(database),
    clock,
    ids,
    startTurn,
  })
  const routing = composeRouting({ clock, log, metrics, reloadable })
  const nodes = composeNodes({ database, node: base.node, clock, log, metrics, knowledge: knowledgeOf(routing) })
  const { sharedClock } = nodes
  const presets = createPresets({ store: presetStore, clock: sharedClock, ids })
  const budgetParts = composeBudgets({
    database,
    clock,
    nodes,
    ids,
    log,
    metrics,
    file: () => reloadable.settings.budgets,
    sources: [guardrailBudgets(guardrails)],
    journal,
    largeStep,
  })
  const { budgets, credits, recorder, ledger, durations, onOvershoot } = budgetParts
  const management = composeManagement({
    storage,
    clock,
    sharedClock,
    ids,
    budgets,
    credits,
    areCreditsEnforced: () => reloadable.settings.budgets.credits,
    figures: ledger.figures,
    seal,
    startTurn,
    flush: recorder.flush,
    onError,
  })
  const observe = observeAnswers(metrics, log)
  const running = createRunningAnswers()
  metrics.gauge('patchbay_running_generations', 'Generations being answered.', () => running.size)
  const observability = composeObservability({ database, seal, clock, sharedClock, ids, log, metrics, reloadable, env, onError })
  const settle = createSettle({ ledger, durations, recorder, running, sticky: routing.sticky, observe, onOvershoot })

  const contentStore = createContentStore(database, seal, startTurn)
  const guardrailHits = createGuardrailHitStore(database)

  return {
    ...base,
    largeStep,
    ...budgetParts,
    nodes,
    ...composeLimits({ clock, cpuMs: base.cpuMs, log, metrics, reloadable, limitStore: base.limitStore, nodesSeen: () => nodes.seen }),
    onError,
    presetStore,
    rollouts: createRollouts({
      store: createRolloutStore(database),
      forget: ({ workspaceId, slug }) => presets.forget(workspaceId, slug),
      flush: recorder.flush,
      clock,
      ids,
    }),
    evaluationStore: createEvaluationStore({ database, seal, startTurn }),
    presetTests: createPresetTestStore({ database, seal }),
    presets,
    guardrails,
    generationStore: createGenerationStore(database),
    generationList: createGenerationList(database),
    contentStore,
    fileStore: createFileStore(database, seal, clock),
    searching: createSearchStore(database),
    endpointHealth: createEndpointHealthStore(database),
    guardrailHits,
    refusedHits: createRefusedHits({ store: guardrailHits, clock }),
    contents: createContents({ store: contentStore, formats: FORMATS, clock, startTurn, onError }),
    usageSeries: createUsageSeries(database),
    management,
    attempts: createAttempts(clock),
    codeAttempts: createAttempts(clock),
    routing,
    observability,
    running,
    settle,
    readDocument: createReadDocument({ clock }),
    answers: composeResponseCache({
      clock,
      log,
      metrics,
      reloadable,
      seal,
      secret: storage.secret.derive('response-cache'),
      redis: base.redis,
      onError,
    }),
    keepAlive: createKeepAlive(clock, KEEP_ALIVE_MS),
    readiness: createReadiness(
      clock,
      probeStorage(database, clock, (thrown) => onError(thrown, 'storage takes no writes')),
    ),
  }
}
