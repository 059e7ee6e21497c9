/** A plugin changes a request or its answer once, when the request asks for it; plugins.ts lists them. */
import type { Call } from '../canonical/call.ts'
import { GatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'

/** In the order in which they work: who is asked, what is sent, what was answered. */
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
 * `routing`: chooses whom to ask. `input`: looks at what is said, or changes it, before anybody is asked. `conversation`: changes what is sent,
 * once it is known to whom. `answer`: looks at what was answered, or changes it.
 */
export type PluginStep = 'routing' | 'input' | 'conversation' | 'answer'

export interface Plugin {
  readonly step: PluginStep
  /** Throws `invalid_request` that names what is missing, where it cannot run here. */
  readonly check?: (options: JsonObject) => void
  /** The models to ask, in this order; null: those of the request. */
  readonly choose?: (call: Call, options: JsonObject) => readonly string[] | null
}

/** `invalid_request` that names the plugin. */
export const cannotRun = (id: PluginId, why: string): GatewayError =>
  new GatewayError('invalid_request', `plugins: ${id} cannot run here: ${why}`, {
    metadata: { issues: [{ path: 'plugins', message: `${id} cannot run here: ${why}` }] },
  })
