/** The settings of a workspace, as they are stored and shown (docs/contract/keys-and-workspaces.md#workspaces). */
import { z } from 'zod'

import { jsonValue } from './json-value.ts'
import { keyHash } from './key-hash.ts'
import { presetLabel } from './preset-name.ts'

const modelName = z.string().min(1).max(256).nullable()

export const workspacePlugins = z
  .array(
    z
      .record(z.string().max(100), jsonValue)
      .refine(({ id }) => typeof id === 'string', { path: ['id'], message: 'Name the plugin by its id.' })
      .refine(({ locked = false }) => typeof locked === 'boolean', { path: ['locked'], message: 'Expected true or false.' }),
  )
  .max(13)
  .meta({
    id: 'WorkspacePlugins',
    description:
      'Plugins of every request that does not name them itself, with their options. A request cannot change or switch off one that is `locked`.',
  })

export const settingsFields = {
  default_text_model: modelName,
  default_image_model: modelName,
  default_provider_sort: z.enum(['price', 'throughput', 'latency', 'exacto']).nullable(),
  is_observability_broadcast_enabled: z.boolean(),
  is_observability_io_logging_enabled: z.boolean(),
  is_data_discount_logging_enabled: z.boolean(),
  io_logging_sampling_rate: z.number().min(0.0001).max(1),
  io_logging_api_key_ids: z
    .array(z.union([keyHash, z.int().min(0)]))
    .max(1000)
    .meta({ id: 'LoggedKeys', description: 'Hashes of the keys whose requests and answers are kept; null: those of all keys.' })
    .nullable(),
  io_logging_retention_days: z.int().min(1).max(3650),
  plugins: workspacePlugins.nullable(),
  disabled_server_tools: z.array(z.string().min(1).max(100)).max(100).nullable(),
  protected_labels: z
    .array(presetLabel)
    .max(100)
    .meta({ description: 'Labels of presets that move only with `confirm: true`.', examples: [['production']] }),
}

export type WorkspaceSettings = z.output<z.ZodObject<typeof settingsFields>>

export const DEFAULT_SETTINGS: WorkspaceSettings = {
  default_text_model: null,
  default_image_model: null,
  default_provider_sort: null,
  is_observability_broadcast_enabled: false,
  is_observability_io_logging_enabled: false,
  is_data_discount_logging_enabled: false,
  io_logging_sampling_rate: 1,
  io_logging_api_key_ids: null,
  io_logging_retention_days: 30,
  plugins: null,
  disabled_server_tools: null,
  protected_labels: [],
}

/** The stored form, one JSON text: only settings that were set, so that a new setting needs no migration. */
export const storedSettings = z.object(settingsFields).partial()
