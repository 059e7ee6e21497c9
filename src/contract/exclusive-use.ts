/** Uses of a provider key that exclude each other, apart from the schemas, which a start needs not (docs/contract/keys-and-workspaces.md#customer-keys). */

type Use = { readonly [Name in 'is_fallback' | 'is_byok_only' | 'is_required']?: boolean | undefined }

export const exclusive = ({ is_fallback, is_byok_only, is_required }: Use): boolean =>
  is_fallback !== true || (is_byok_only !== true && is_required !== true)

export const EXCLUSIVE = { error: 'is_fallback cannot be combined with is_byok_only or is_required.' }
