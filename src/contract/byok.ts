/**
 * Customers' own provider keys on the wire (docs/contract/keys-and-workspaces.md#customer-keys). The key itself is accepted but
 * never returned.
 */
import { z } from 'zod'

import { keyHash } from './key-hash.ts'
import { EXCLUSIVE, exclusive } from './exclusive-use.ts'
import { ruledModel } from './model-name.ts'
import { shownName } from './stored-text.ts'

const list = (item: z.ZodString) => z.array(item).min(1).max(1000).nullable()

const restrictions = {
  allowed_models: list(ruledModel).meta({
    description: 'Models that it is used for, by any of their names, with * for any text; null: all.',
  }),
  allowed_user_ids: list(z.string().min(1).max(256)).meta({ description: 'Users whose API keys may use it; null: all.' }),
  allowed_api_key_hashes: list(keyHash).meta({ description: 'API keys that may use it; null: all.' }),
}

const use = {
  name: shownName(200).nullable(),
  disabled: z.boolean(),
  is_fallback: z.boolean().meta({ description: "Used after the service's own keys of the provider, instead of before them." }),
  is_required: z
    .boolean()
    .meta({ description: "For the models that it may be used for, the service's own keys of the provider are not used." }),
  is_byok_only: z.boolean().meta({ description: "For no model are the service's own keys of the provider used." }),
  declared_zdr: z.boolean().nullable().meta({ description: 'Whether the account behind it keeps no data; null: as the catalogue says.' }),
  sort_order: z.int().min(0).max(1_000_000).meta({ description: 'Keys of one provider are tried in ascending order.' }),
  ...restrictions,
}

/** Printable characters only, since the key is sent in a header; a masked label is refused as a key. */
const secret = z
  .string()
  .min(8)
  .max(8192)
  .regex(/^[\x21-\x7e]+$/, 'Use the key exactly as the provider shows it.')
  .refine((key) => !/[*•]{3,}|\.{3}/.test(key), 'This is a masked key; send the key itself.')
  .meta({ description: 'Sealed at rest, and never answered.' })

export const byokId = z.uuid().meta({ description: 'Id of a provider key.' })

export const byokKey = z
  .object({
    id: byokId,
    provider: z.string(),
    label: z.string().meta({ description: 'Masked.' }),
    workspace_id: z.string().nullable().meta({ description: 'Null: for every workspace.' }),
    ...use,
    declared_region: z.null().meta({ description: 'No region is ever declared: the service has no addresses of regions.' }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'ProviderKey' })

const optionalUse = z.object(use).partial().shape

/** The one region of a service that has no addresses of others; it means the same as none. */
const declaredRegion = z.literal('global').nullish().meta({ description: 'Has no effect.' })

export const createByokBody = z
  .strictObject({
    provider: z
      .string()
      .min(1)
      .max(64)
      .meta({ description: 'Slug of a provider that is enabled here.', examples: ['openai'] }),
    key: secret,
    workspace_id: z.string().min(1).max(64).nullish().meta({ description: "The key's own workspace when absent; null: every workspace." }),
    declared_region: declaredRegion,
    ...optionalUse,
  })
  .refine(exclusive, EXCLUSIVE)
  .meta({
    id: 'CreateProviderKeyBody',
    examples: [{ provider: 'openai', key: 'sk-the-key-as-the-provider-shows-it', name: 'Our own account' }],
  })

export const updateByokBody = z
  .strictObject({ key: secret.optional(), declared_region: declaredRegion, ...optionalUse })
  .refine(exclusive, EXCLUSIVE)
  .meta({
    id: 'UpdateProviderKeyBody',
    examples: [{ disabled: true }],
    description: 'Absent fields stay as they are; null clears. The provider never changes: enter a new key for another.',
  })

export type ByokKeyResource = z.output<typeof byokKey>
export type ByokUse = z.output<z.ZodObject<typeof use>>
