import type { Call } from '../canonical/call.ts'

/** The call as it is put to an endpoint of another service tier than the client named; `tier` null: as it is. */
export const callAtTier = (call: Call, tier: string | null): Call => {
  if (tier === null || call.body.value('service_tier') === tier) return call
  return {
    ...call,
    body: call.body.with({ service_tier: JSON.stringify(tier) }),
    prompt() {
      const prompt = call.prompt()
      return { ...prompt, settings: { ...prompt.settings, serviceTier: { value: tier, field: 'service_tier' } } }
    },
  }
}
