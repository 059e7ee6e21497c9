import { NO_DEARER_TIERS } from '../canonical/asked-work.ts'
import type { Call } from '../canonical/call.ts'
import type { Prompt } from '../canonical/prompt.ts'
import type { Warning } from '../canonical/warning.ts'
import { cutText } from '../lib/text/cut-text.ts'
import type { PlannedAttempt } from './plan-attempts.ts'

/**
 * The call as it is sent to an endpoint with a different service tier than the client named. A tier that may cost more than is known is not
 * requested, and a warning says so: its price could be neither held nor charged (decisions/0089).
 */
export const callAtTier = (call: Call, planned: PlannedAttempt, warn: (warning: Warning) => void): Call => {
  const { body } = call
  const asked = body.value('service_tier')
  const speed = body.value('speed')
  if (planned.serviceTier === null && asked === undefined && speed === undefined) return call
  const wanted = planned.serviceTier ?? asked
  const isDear = wanted !== undefined && mayCostMore(planned, wanted)
  const isDearSpeed = speed === 'fast' && mayCostMore(planned, speed)
  if (isDear) warn(notAskedFor('service_tier', asked, planned))
  if (isDearSpeed) warn(notAskedFor('speed', speed, planned))
  // An ordinary endpoint that replaces one of the tier is asked at its ordinary speed.
  const isSlowed = isDearSpeed || (speed === 'fast' && planned.serviceTier === 'default')
  const tier = isDear ? 'default' : planned.serviceTier
  // Naming the tier in addition to the speed would be refused, or would cause a warning.
  const isSaidBySpeed = call.dialect === 'messages' && speed === 'fast' && !isSlowed && (asked ?? 'auto') === 'auto'
  const isSame = tier === null || asked === tier || isSaidBySpeed
  if (isSame && !isSlowed) return call
  return {
    ...call,
    body: body.with({ ...(isSame ? {} : { service_tier: JSON.stringify(tier) }), ...(isSlowed ? { speed: null } : {}) }),
    prompt() {
      const prompt = isSlowed ? withoutSpeed(call.prompt()) : call.prompt()
      if (isSame) return prompt
      return { ...prompt, settings: { ...prompt.settings, serviceTier: { value: tier, field: 'service_tier' } } }
    },
  }
}

const withoutSpeed = (prompt: Prompt): Prompt => {
  const { serviceTier, ...settings } = prompt.settings
  return serviceTier?.field === 'speed' ? { ...prompt, settings } : prompt
}

/** With their own key, customers pay for what they request; if no price is known at all, budgets have a rule of their own. */
const mayCostMore = ({ model, endpoint, customerKey }: PlannedAttempt, word: unknown): boolean => {
  if (NO_DEARER_TIERS.has(word) || endpoint.prices === null || customerKey !== undefined) return false
  const tier = word === 'fast' ? 'priority' : word
  return !model.endpoints.some(({ provider, serviceTier }) => provider.slug === endpoint.provider.slug && serviceTier === tier)
}

const notAskedFor = (field: string, word: unknown, { model, endpoint }: PlannedAttempt): Warning => ({
  code: 'unsupported_field',
  field,
  message:
    `The price of ${typeof word === 'string' ? cutText(word, WORD_SHOWN) : 'that tier'} is not known for ${model.id} at ${endpoint.provider.name}, which was asked at its ordinary tier. ` +
    `The operator can add an endpoint with service_tier: ${word === 'ultrafast' ? word : 'priority'} and its prices.`,
})

/** A hostile value is not repeated in full. */
const WORD_SHOWN = 64
