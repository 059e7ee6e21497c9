/**
 * The parts of a request body that a preset keeps, by the body's interface: settings of generation, routing, tools and plugins,
 * each under its original name. Everything that belongs to one call or one caller is left out, and so is every field whose row
 * does not say `keep` (docs/contract/presets.md#what-is-kept).
 */
import { z } from 'zod'

import { type ClientDialect, forEachDialect } from '../canonical/call.ts'
import { nearestName } from '../lib/text/nearest-name.ts'
import type { FieldTable } from './field.ts'
import { fieldsWhere } from './request-fields.ts'
import { promptTemplate } from './schemas/prompt-template.ts'

/** Fields that a lock may name. A preset used by another interface is translated, so it may be any interface's field. */
export const LOCKABLE_FIELDS = fieldsWhere(({ presets }) => presets === 'keep')

/**
 * Fields that only the body of a preset has: the fields that a request may not change (docs/contract/presets.md#merge), and the
 * caching of answers (docs/contract/response-cache.md#turning-it-on).
 */
export const PRESET_CONTROLS = {
  locked: {
    schema: z
      // A misspelt lock would have no effect, so the names are checked.
      .array(z.enum(LOCKABLE_FIELDS, { error: ({ input }) => noSuchField(input) }).meta({ id: 'LockableField' }))
      .max(LOCKABLE_FIELDS.length)
      .meta({ description: 'Fields in which the preset wins over the request.', examples: [['model', 'provider']] }),
    means: 'service',
    presets: 'control',
  },
  on_locked: {
    schema: z.enum(['keep', 'reject']).meta({
      description: 'A request that sets a locked field: keep (default) ignores its value with a warning, reject answers 400.',
    }),
    means: 'service',
    presets: 'control',
  },
  cache_enabled: {
    schema: z.boolean().meta({ description: 'Whether answers come from the response cache; false wins over what a request asks.' }),
    means: 'service',
    presets: 'control',
  },
  cache_ttl_seconds: {
    schema: z
      .int()
      .min(1)
      .max(86_400)
      .meta({ description: 'How long the response cache keeps an answer, where the request does not say; 300 where nobody says.' }),
    means: 'service',
    presets: 'control',
  },
  prompt_template: { schema: promptTemplate, means: 'service', presets: 'control' },
} as const satisfies FieldTable

const noSuchField = (name: unknown): string => {
  const nearest = typeof name === 'string' ? nearestName(LOCKABLE_FIELDS, name) : null
  return `Not a field that a preset keeps.${nearest === null ? '' : ` Did you mean "${nearest}"?`}`
}

const persistedOf = (shape: ClientDialect): readonly string[] => [
  ...fieldsWhere(({ presets }) => presets === 'keep' || presets === 'control', [shape]),
  ...Object.keys(PRESET_CONTROLS),
]

/** Request fields that are stored in `config`. */
export const PERSISTED_FIELDS = forEachDialect(persistedOf)

/**
 * The one key of `config` that is not a request field of every interface: system text whose blocks carry more than text
 * (docs/contract/presets.md#system-prompt).
 */
export const SYSTEM_BLOCKS_KEY = 'system'
