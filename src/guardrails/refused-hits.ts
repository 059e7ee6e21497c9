/**
 * Counts findings in requests that were refused because of them. No provider is called, so no settlement would count them: they
 * are collected in memory and written periodically. A killed process loses those not yet written.
 */
import { rulesOf } from '../canonical/guardrail-rules.ts'
import type { Effect } from '../canonical/effect.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { GuardrailHitStore, GuardrailHits } from '../storage/guardrails/guardrail-hours.ts'
import { HOUR_LENGTH } from '../storage/usage/usage-hours.ts'

export interface RefusedHits {
  note(effects: readonly Effect[]): void
  /** Writes the collected findings; those that cannot be written stay for the next time. */
  write(): Promise<void>
}

/** Entries (rule and hour) that are kept while storage is unavailable; further ones are not counted. */
const WAITING_MAX = 10_000

export const createRefusedHits = ({ store, clock }: { store: Pick<GuardrailHitStore, 'add'>; clock: Clock }): RefusedHits => {
  let waiting = new Map<string, GuardrailHits>()
  const count = (hit: GuardrailHits): void => {
    const key = `${hit.hour} ${hit.guardrail_id} ${hit.rule}`
    const known = waiting.get(key)
    if (known === undefined && waiting.size >= WAITING_MAX) return
    waiting.set(key, { ...hit, requests: (known?.requests ?? 0) + hit.requests })
  }
  return {
    note(effects) {
      const hour = isoTimestamp(clock.now()).slice(0, HOUR_LENGTH)
      const found = new Map<string, GuardrailHits>()
      for (const effect of effects) {
        if (effect.type !== 'guardrail') continue
        for (const rule of rulesOf(effect))
          found.set(`${effect.guardrail_id} ${rule}`, { guardrail_id: effect.guardrail_id, hour, rule, requests: 1 })
      }
      for (const hit of found.values()) count(hit)
    },
    async write() {
      if (waiting.size === 0) return
      const hits = [...waiting.values()]
      waiting = new Map()
      try {
        await store.add(hits)
      } catch (thrown) {
        for (const hit of hits) count(hit)
        throw thrown
      }
    },
  }
}
