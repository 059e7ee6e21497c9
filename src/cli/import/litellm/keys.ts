/** The limits of virtual keys; the keys themselves cannot be moved. */
import type { JsonObject, JsonValue } from '../../../lib/json/json.ts'
import type { Place, PlannedKey } from '../import-plan.ts'
import { wordIn } from '../members.ts'

const RESETS: Readonly<Record<string, string>> = {
  '1d': 'daily',
  '24h': 'daily',
  '7d': 'weekly',
  '1w': 'weekly',
  '30d': 'monthly',
  '1mo': 'monthly',
}

const KEY_SAID: Readonly<Record<string, string>> = {
  team_id: 'a team is a workspace here: make it, and the key in it',
  max_parallel_requests: 'max_parallel_requests: how much runs at once is limited for the service, not by key',
  model_max_budget: 'model_max_budget: a budget is that of a key, a workspace or a guardrail, not of a model',
  guardrails: 'guardrails: assign the guardrail to the key',
}

/** LiteLLM lists every member of a key, most of them empty. */
const isSet = (value: JsonValue | undefined): boolean =>
  value != null && (typeof value === 'object' ? Object.keys(value).length > 0 : value !== '')

export const keyOf = (entry: JsonObject, place: Place): PlannedKey => {
  const name = [entry['key_alias'], entry['key_name'], entry['token']].find((one) => typeof one === 'string')
  const { max_budget: budget, budget_duration: duration, rpm_limit: rpm, tpm_limit: tpm, expires, blocked } = entry
  const reset = typeof duration === 'string' ? RESETS[duration] : undefined
  if (typeof duration === 'string' && reset === undefined)
    place.at('budget_duration').changed(`a budget is daily, weekly, monthly or for life; ${duration} becomes for life`)
  if (Array.isArray(entry['models']) && entry['models'].length > 0)
    place.at('models').cannot('models of a key are a guardrail here: allowed_models')
  for (const [member, says] of Object.entries(KEY_SAID)) if (isSet(entry[member])) place.at(member).cannot(says)
  place.changed(`limits of the key ${JSON.stringify(name)}; the key itself cannot be moved, clients need a new one`)
  const limits = {
    limit: budget,
    limit_reset: reset,
    rpm_limit: rpm,
    tpm_limit: tpm,
    expires_at: expires,
    disabled: blocked === true ? true : undefined,
  }
  return {
    name: wordIn(name).slice(0, 200),
    limits: Object.fromEntries(
      Object.entries(limits).flatMap(([field, value]): [string, JsonValue][] => (value == null ? [] : [[field, value]])),
    ),
  }
}
