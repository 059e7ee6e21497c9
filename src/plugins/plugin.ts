/** A plugin changes a request or its answer once, if the request asks for it; plugins.ts lists all plugins. */
import type { Call } from '../canonical/call.ts'
import { GatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json/json.ts'

/** In the order in which they run: those that choose the model, those that change the request, those that change the answer. */
export const PLUGIN_IDS = [
  'auto-router',
  'auto-beta-router',
  'pareto-router',
  'switchyard-router',
  'jev-router',
  'moderation',
  'file-parser',
  'web',
  'web-fetch',
  'context-compression',
  'fusion',
  'alignment',
  'response-healing',
] as const

export type PluginId = (typeof PLUGIN_IDS)[number]

/**
 * `routing`: chooses the models. `input`: examines or changes the request before a model is called. `conversation`: changes the
 * request once its destination is known. `answer`: examines or changes the answer.
 */
export type PluginStep = 'routing' | 'input' | 'conversation' | 'answer'

export interface Plugin {
  readonly step: PluginStep
  /** Throws `invalid_request` naming what is missing if the plugin cannot run here. */
  readonly check?: (options: JsonObject) => void
  /** Returns the models to call, in order; null: those of the request. */
  readonly choose?: (call: Call, options: JsonObject) => readonly string[] | null
}

/** Creates an `invalid_request` that names the plugin. */
export const cannotRun = (id: PluginId, why: string): GatewayError =>
  new GatewayError('invalid_request', `plugins: ${id} cannot run here: ${why}`, {
    metadata: { issues: [{ path: 'plugins', message: `${id} cannot run here: ${why}` }] },
  })
