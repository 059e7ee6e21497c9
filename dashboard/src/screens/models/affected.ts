/** The presets and keys that a failing provider affects: those whose requests used its failing models. */
import type { ProviderHealth } from '../../api/providers.ts'
import type { UsageGroup, UsageSums } from '../../api/usage.ts'

export interface Affected {
  readonly id: string
  readonly name: string
  readonly requests: number
}

type Group = UsageSums & UsageGroup

export const isFailing = ({ status }: ProviderHealth): boolean => status === 'down' || status === 'degraded'

/** If no single endpoint fails, as with a refused API key, all of them count as failing. */
export const failingModels = ({ endpoints }: ProviderHealth): ReadonlySet<string> => {
  const failing = endpoints.filter(({ status, breaker }) => status === 'down' || status === 'degraded' || breaker.state === 'open')
  return new Set((failing.length === 0 ? endpoints : failing).map(({ model }) => model))
}

/** `groups`: sums by model and by `dimension`. Returns those with the most requests first. */
export const affectedBy = (models: ReadonlySet<string>, groups: readonly Group[], dimension: 'preset' | 'key'): readonly Affected[] => {
  const found = new Map<string, Affected>()
  for (const group of groups) {
    const id = group[dimension]
    if (id === null || id === undefined || typeof group.model !== 'string' || !models.has(group.model)) continue
    const name = (dimension === 'key' ? group.key_name : null) ?? id
    found.set(id, { id, name, requests: (found.get(id)?.requests ?? 0) + group.requests })
  }
  return [...found.values()].toSorted((one, other) => other.requests - one.requests)
}
