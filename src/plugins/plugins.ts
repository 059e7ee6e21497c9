/** All plugins of this service, with the step at which each runs and what it requires. */
import type { Models } from '../models/models.ts'
import { checkAlignment } from './alignment.ts'
import { fusionPlugin } from './fusion.ts'
import { paretoRouter } from './pareto-router.ts'
import { cannotRun, type Plugin, type PluginId } from './plugin.ts'
import type { PluginSettings } from './settings.ts'
import { switchyardRouter } from './switchyard-router.ts'

export type Plugins = Readonly<Record<PluginId, Plugin>>

export interface PluginParts {
  readonly settings: PluginSettings
  /** Panels of models for a fusion, by preset name. */
  readonly fusionPresets: Readonly<Record<string, readonly string[]>>
  /** Slugs of the configured moderation endpoints. */
  readonly moderationEndpoints: readonly string[]
  readonly models: Pick<Models, 'find'>
  /** Returns a random number in [0, 1). */
  readonly random: () => number
}

export const createPlugins = ({ settings, fusionPresets, moderationEndpoints, models, random }: PluginParts): Plugins => ({
  // Routing itself applies their options, for the models that they concern (routing/auto-models.ts).
  'auto-router': { step: 'routing' },
  'auto-beta-router': { step: 'routing' },
  'pareto-router': paretoRouter(settings.pareto?.scores, models),
  'switchyard-router': switchyardRouter(random),
  'jev-router': {
    step: 'routing',
    check() {
      throw cannotRun('jev-router', 'its choice is made by a model of a third party, which this service does not have.')
    },
  },
  moderation: {
    step: 'input',
    check() {
      if (moderationEndpoints.length === 0) throw cannotRun('moderation', 'no endpoint is configured (`moderation.endpoints`).')
    },
  },
  'file-parser': { step: 'input' },
  // The pipeline searches before it calls the model (inference/web/plan-search.ts).
  web: { step: 'conversation' },
  'web-fetch': { step: 'input' },
  'context-compression': { step: 'conversation' },
  fusion: fusionPlugin(fusionPresets),
  alignment: { step: 'answer', check: checkAlignment(settings.alignment) },
  'response-healing': { step: 'answer' },
})
