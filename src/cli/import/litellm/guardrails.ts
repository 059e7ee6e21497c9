/** Guardrails that a built-in filter can stand for. */
import { type JsonObject, membersOf } from '../../../lib/json/json.ts'
import type { Place } from '../import-plan.ts'
import { wordIn } from '../members.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  EMAIL_ADDRESS: 'email',
  PHONE_NUMBER: 'phone',
  US_SSN: 'ssn',
  CREDIT_CARD: 'credit-card',
  IP_ADDRESS: 'ip-address',
  PERSON: 'person-name',
  LOCATION: 'address',
}

export const guardrailOf = (entry: JsonObject, place: Place): readonly JsonObject[] => {
  const name = wordIn(entry['guardrail_name'])
  const params = membersOf(entry['litellm_params'])
  const kind = wordIn(params['guardrail'])
  const modes = [params['mode']].flat().map(wordIn)
  const reads = modes.some((mode) => mode === 'pre_call' || mode === 'during_call')
  const writes = modes.includes('post_call')
  const side = reads === writes ? {} : { applies_to: reads ? 'input' : 'output' }
  const filters: JsonObject[] = []
  if (kind === 'presidio') {
    const entities = membersOf(params['pii_entities_config'])
    for (const [entity, action] of Object.entries(entities)) {
      const slug = ENTITIES[entity]
      if (slug === undefined) place.at('litellm_params', 'pii_entities_config', entity).cannot(`there is no filter for ${entity}`)
      else filters.push({ slug, action: action === 'BLOCK' ? 'block' : 'redact', ...side })
    }
    if (Object.keys(entities).length === 0) for (const slug of Object.values(ENTITIES)) filters.push({ slug, action: 'redact', ...side })
  } else if (kind === 'hide-secrets' || kind === 'hide_secrets') filters.push({ slug: 'secrets', action: 'redact', ...side })
  if (filters.length === 0) {
    place.cannot(`guardrail ${name}: ${kind} is an external service's; a moderation endpoint can ask it`)
    return []
  }
  place.changed(
    `guardrail ${name}: filters of our own for the same${params['default_on'] === true ? '; assign it, or put it into the default guardrail' : '; assign it to keys'}`,
  )
  return [{ name, content_filter_builtins: filters }]
}
