/** The resources that management keys keep in a workspace: each row joins a store and its rules to its routes. */
import type { ConfigFile } from '../config-file.ts'
import { createFiles, type Files } from '../files/files.ts'
import type { Route } from '../http/route.ts'
import { destinationRoutes } from '../http/routes/destinations.ts'
import { evaluationRoutes } from '../http/routes/evaluations.ts'
import { fileRoutes } from '../http/routes/files.ts'
import { createHitsOf } from '../http/routes/guardrail-hits.ts'
import { guardrailRoutes } from '../http/routes/guardrails.ts'
import { presetTestRoutes } from '../http/routes/preset-tests.ts'
import { rolloutRoutes } from '../http/routes/rollouts.ts'
import { createEvaluations, type Evaluations } from '../inference/evaluations/evaluations.ts'
import { createReadItem } from '../inference/evaluations/item-request.ts'
import type { Pipeline } from '../inference/pipeline.ts'
import type { Parts } from './parts.ts'

/** Parts that are built anew from each configuration file. */
interface Current {
  readonly file: ConfigFile
  readonly pipeline: Pipeline
}

const RESOURCES: readonly ((parts: Parts, current: Current) => readonly Route[])[] = [
  ({ rollouts }) => rolloutRoutes(rollouts),
  (parts, { pipeline }) => evaluationRoutes({ ...parts.management, evaluations: composeEvaluations(parts, pipeline) }),
  ({ presetTests, management, clock, ids }) => presetTestRoutes({ tests: presetTests, onceness: management.onceness, clock, ids }),
  ({ observability, management }) => destinationRoutes({ ...management, destinations: observability.destinations }),
  (parts, { file }) => {
    const { clock, onError, management } = parts
    const { onceness, auditLog } = management
    return fileRoutes({
      files: composeFiles(parts, file),
      clock,
      onError,
      onceness,
      auditLog,
      unreadMs: file.timeouts.client_unread * 1000,
    })
  },
  ({ guardrails, guardrailHits, refusedHits, management }) => {
    const flush = async (): Promise<void> => {
      await management.flush()
      await refusedHits.write()
    }
    return guardrailRoutes({ ...management, guardrails, hitsOf: createHitsOf({ guardrailHits, flush, clock: management.clock }) })
  },
]

export const composeResources = (parts: Parts, current: Current): readonly Route[] => RESOURCES.flatMap((routes) => routes(parts, current))

export const composeFiles = ({ fileStore, clock, ids }: Parts, { files }: ConfigFile): Files =>
  createFiles({ store: fileStore, workspaceBytes: files.workspace_bytes, clock, ids })

const composeEvaluations = (parts: Parts, pipeline: Pipeline): Evaluations =>
  createEvaluations({
    store: parts.evaluationStore,
    tests: parts.presetTests,
    presets: parts.presets,
    generations: { list: parts.generationList, flush: () => parts.recorder.flush().then(parts.contents.flush) },
    readItem: createReadItem(parts.contentStore),
    pipeline,
    largeStep: parts.largeStep,
    clock: parts.clock,
    ids: parts.ids,
  })
