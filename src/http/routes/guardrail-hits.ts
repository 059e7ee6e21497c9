/** How often the rules of guardrails found something, for the list of guardrails (docs/contract/guardrails.md#resource). */
import type { GuardrailResource, ListedGuardrailResource } from '../../contract/guardrail.ts'
import { isoTimestamp, type Clock } from '../../lib/clock.ts'
import type { GuardrailHitStore } from '../../storage/guardrails/guardrail-hours.ts'
import { HOUR_LENGTH } from '../../storage/usage/usage-hours.ts'

export type HitsOf = (guardrails: readonly GuardrailResource[]) => Promise<readonly ListedGuardrailResource[]>

interface GuardrailHitParts {
  readonly guardrailHits: Pick<GuardrailHitStore, 'read'>
  /** Resolves when everything that was answered before is counted. */
  readonly flush: () => Promise<void>
  readonly clock: Clock
}

const HOUR_MS = 60 * 60 * 1000
/** Including the current hour, which is not over. */
const HOURS = 24

export const createHitsOf =
  ({ guardrailHits, flush, clock }: GuardrailHitParts): HitsOf =>
  async (guardrails) => {
    await flush()
    const fromHour = isoTimestamp(clock.now() - (HOURS - 1) * HOUR_MS).slice(0, HOUR_LENGTH)
    const hits = await guardrailHits.read(
      guardrails.map(({ id }) => id),
      fromHour,
    )
    return guardrails.map((one) => ({
      ...one,
      hits: (hits.get(one.id) ?? []).map(({ rule, requests }) => ({ rule, requests })),
    }))
  }
