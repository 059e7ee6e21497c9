/** The resources that management keys keep in a workspace: each row joins a store and its rules to its routes. */
import type { ConfigFile } from '../config-file.ts'
import { createFiles, type Files } from '../files/files.ts'
import { FORMATS } from '../formats/formats.ts'
import { later, type Row } from '../http/later-routes.ts'
import { createEvaluations, type Evaluations } from '../inference/evaluations/evaluations.ts'
import { createReadItem } from '../inference/evaluations/item-request.ts'
import type { Pipeline } from '../inference/pipeline.ts'
import type { Parts } from './parts.ts'

/** Parts that are built anew from each configuration file. */
interface Current {
  readonly file: ConfigFile
  readonly pipeline: Pipeline
}

const RESOURCES: readonly ((parts: Parts, current: Current) => Row)[] = [
  ({ rollouts, presets, management }, { pipeline }) =>
    later(
      ['/presets/:slug/rollout'],
      () => import('../http/routes/rollouts.ts'),
      ({ rolloutRoutes }) => rolloutRoutes({ rollouts, presets, formats: FORMATS, answering: { pipeline }, management }),
    ),
  (parts, { pipeline }) =>
    later(
      [
        '/presets/:slug/evaluations',
        '/presets/:slug/evaluations/:id',
        '/presets/:slug/evaluations/:id/comparison',
        '/presets/:slug/evaluations/:id/cancel',
        '/presets/:slug/evaluations/:id/resume',
      ],
      () => import('../http/routes/evaluations.ts'),
      ({ evaluationRoutes }) => evaluationRoutes({ ...parts.management, evaluations: composeEvaluations(parts, pipeline) }),
    ),
  ({ presetTests, management, clock, ids }) =>
    later(
      ['/presets/:slug/tests', '/presets/:slug/tests/:id'],
      () => import('../http/routes/preset-tests.ts'),
      ({ presetTestRoutes }) => presetTestRoutes({ tests: presetTests, onceness: management.onceness, clock, ids }),
    ),
  ({ observability, management }) =>
    later(
      ['/observability/destinations', '/observability/destinations/:id'],
      () => import('../http/routes/destinations.ts'),
      ({ destinationRoutes }) => destinationRoutes({ ...management, destinations: observability.destinations }),
    ),
  (parts, { file }) =>
    later(
      ['/files', '/files/:file_id', '/files/:file_id/content'],
      () => import('../http/routes/files.ts'),
      ({ fileRoutes }) => {
        const { clock, onError, management } = parts
        const { onceness, auditLog } = management
        const unreadMs = file.timeouts.client_unread * 1000
        return fileRoutes({ files: composeFiles(parts, file), clock, onError, onceness, auditLog, unreadMs })
      },
    ),
  ({ guardrails, guardrailHits, refusedHits, management }) =>
    later(
      [
        '/guardrails',
        '/guardrails/:id',
        ...['keys', 'members'].flatMap((subjects) => [
          `/guardrails/assignments/${subjects}`,
          `/guardrails/:id/assignments/${subjects}`,
          `/guardrails/:id/assignments/${subjects}/remove`,
        ]),
      ],
      async () => ({ ...(await import('../http/routes/guardrails.ts')), ...(await import('../http/routes/guardrail-hits.ts')) }),
      ({ guardrailRoutes, createHitsOf }) => {
        const flush = async (): Promise<void> => {
          await management.flush()
          await refusedHits.write()
        }
        return guardrailRoutes({ ...management, guardrails, hitsOf: createHitsOf({ guardrailHits, flush, clock: management.clock }) })
      },
    ),
]

export const composeResources = (parts: Parts, current: Current): readonly Row[] => RESOURCES.map((row) => row(parts, current))

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
