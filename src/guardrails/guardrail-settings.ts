/** Converts a body to the settings that are stored: adds defaults and checks dependencies between fields. */
import { ZDR_AUTHORS } from '../canonical/routing-policy.ts'
import type { GuardrailPatch, GuardrailResource, GuardrailSettings } from '../contract/guardrail.ts'
import { invalidField } from '../contract/validate.ts'
import { builtinLabel } from './filter.ts'

const NOTHING: Omit<GuardrailSettings, 'name'> = {
  description: null,
  limit_usd: null,
  reset_interval: null,
  include_byok_in_budgets: false,
  allowed_models: null,
  ignored_models: null,
  allowed_providers: null,
  ignored_providers: null,
  enforce_zdr: null,
  enforce_zdr_anthropic: null,
  enforce_zdr_openai: null,
  enforce_zdr_google: null,
  enforce_zdr_xai: null,
  enforce_zdr_other: null,
  enable_free_model_publication: null,
  enable_free_model_training: null,
  enable_paid_model_training: null,
  allowed_data_regions: null,
  denied_tools: null,
  content_filters: null,
  content_filter_builtins: null,
  moderation: null,
}

/** Throws `invalid_request`, as `changedSettings` does. */
export const newSettings = ({ name, ...rest }: GuardrailPatch & { readonly name: string }): GuardrailSettings =>
  changedSettings({ name, ...NOTHING }, rest)

/** An absent field is left unchanged; null clears it. */
export const changedSettings = (was: GuardrailSettings | GuardrailResource, patch: GuardrailPatch): GuardrailSettings => {
  const { content_filters: custom, content_filter_builtins: builtins, include_byok_in_budgets: byok, name, ...rest } = patch
  const given: Partial<GuardrailSettings> = {
    ...Object.fromEntries(Object.entries(rest).filter(([field, value]) => value !== undefined && Object.hasOwn(NOTHING, field))),
    ...(name === undefined ? {} : { name }),
    ...(byok === undefined ? {} : { include_byok_in_budgets: byok }),
    ...(custom === undefined
      ? {}
      : {
          content_filters:
            custom?.map(({ label, applies_to, ...entry }) => ({ ...entry, label: label ?? null, applies_to: applies_to ?? 'both' })) ??
            null,
        }),
    ...(builtins === undefined
      ? {}
      : {
          content_filter_builtins:
            builtins?.map(({ slug, action, scan_scope, applies_to }) => ({
              slug,
              action,
              label: builtinLabel(slug),
              ...(slug === 'regex-prompt-injection' ? { scan_scope: scan_scope ?? 'all_messages' } : {}),
              applies_to: slug === 'regex-prompt-injection' ? 'input' : (applies_to ?? 'both'),
            })) ?? null,
        }),
  }
  const { enforce_zdr: zdr } = patch
  // An older field for all five authors; a field of a single author takes precedence.
  for (const author of zdr === undefined ? [] : ZDR_AUTHORS) {
    const field = `enforce_zdr_${author}` as const
    if (patch[field] === undefined) given[field] = zdr ?? null
  }
  // Without a limit there is nothing to reset.
  if (patch.limit_usd === null && patch.reset_interval === undefined) given.reset_interval = null
  const settings = { ...settingsOf(was), ...given }
  if (settings.limit_usd === null && settings.reset_interval !== null) {
    throw invalidField('limit_usd', 'A reset_interval needs a limit_usd.')
  }
  return settings
}

const settingsOf = (was: GuardrailSettings | GuardrailResource): GuardrailSettings => {
  const {
    id: _,
    workspace_id: __,
    created_at: ___,
    updated_at: ____,
    ...settings
  } = {
    id: '',
    workspace_id: '',
    created_at: '',
    updated_at: null,
    ...was,
  }
  return settings
}
