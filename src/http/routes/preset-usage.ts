/** The recent usage of presets, for their list (docs/contract/presets.md#access). */
import { scopeOf } from '../../canonical/reach.ts'
import type { ListedPresetResource } from '../../contract/preset-query.ts'
import type { PresetResource } from '../../contract/preset.ts'
import { isoTimestamp, type Clock } from '../../lib/clock.ts'
import type { UsageSeriesStore, UsageSums } from '../../storage/usage/usage-series.ts'
import { createPacedReads } from '../paced-reads.ts'
import { reachOf, type RouteRequest } from '../route.ts'
import { amountsOf } from './usage.ts'

export type PresetUsage = (request: RouteRequest, presets: readonly PresetResource[]) => Promise<readonly ListedPresetResource[]>

interface PresetUsageParts {
  readonly generations: { readonly usage: UsageSeriesStore; readonly flush: () => Promise<void> }
  readonly clock: Clock
}

const HOUR_MS = 60 * 60 * 1000
const HOURS = 24

/** Members see the usage of their own keys. */
export const createPresetUsage = ({ generations: { usage, flush }, clock }: PresetUsageParts): PresetUsage => {
  const reads = createPacedReads(clock)
  return async (request, presets) => {
    if (presets.length === 0) return []
    const endMs = (Math.floor(clock.now() / HOUR_MS) + 1) * HOUR_MS
    const reach = reachOf(request)
    await flush()
    const { groups } = await reads.run(request, 'listPresets', () =>
      usage.read({
        from: isoTimestamp(endMs - HOURS * HOUR_MS),
        to: isoTimestamp(endMs),
        interval: 'day',
        groupBy: ['preset'],
        top: presets.length,
        sort: 'cost',
        workspaceId: scopeOf(reach),
        ownedBy: reach.onlyUserId,
        only: { preset: presets.map(({ id }) => id) },
      }),
    )
    const sums = new Map(groups.map(({ group, ...found }) => [group?.[0], found]))
    return presets.map((preset) => ({ ...preset, usage: amountsOf(sums.get(preset.id) ?? NOTHING) }))
  }
}

const NOTHING: UsageSums = {
  requests: 0,
  errors: 0,
  cancelled: 0,
  tokens_prompt: 0,
  tokens_completion: 0,
  tokens_reasoning: 0,
  tokens_cache_read: 0,
  tokens_cache_write: 0,
  cost_nanos: 0,
  byok_cost_nanos: 0,
  estimated_requests: 0,
  estimated_nanos: 0,
  unpriced_requests: 0,
  ttftP50: null,
  ttftP95: null,
  ttftP99: null,
  totalP50: null,
  totalP95: null,
  totalP99: null,
}
