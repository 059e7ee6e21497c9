/** Guardrails as they apply to a caller, for tests without storage. */
import type { FilterAction, FilterSide, GuardrailPatch } from '../../src/contract/guardrail.ts'
import type { Applied } from '../../src/guardrails/effective.ts'
import { newSettings } from '../../src/guardrails/guardrail-settings.ts'

export const guardrailWith = (settings: GuardrailPatch, scope: Applied['scope'] = 'api-key', id = 'guardrail-1'): Applied => ({
  scope,
  guardrail: {
    ...newSettings({ ...settings, name: 'A guardrail' }),
    id,
    workspace_id: 'workspace-1',
    created_at: '2026-11-20T00:00:00.000Z',
    updated_at: null,
  },
})

export const emailGuardrail = (action: FilterAction, side: FilterSide = 'both'): Applied =>
  guardrailWith({ content_filter_builtins: [{ slug: 'email', action, applies_to: side }] })
