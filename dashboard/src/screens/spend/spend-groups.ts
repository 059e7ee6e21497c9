/** Which part of the spend the address names, and where a group leads: one step deeper, at last to its requests. */
import type { UsageGroup } from '../../api/usage.ts'
import type { Search } from '../../search.ts'
import type { Dimension } from './spend-series.ts'

/** The parameters of the address are those of the API. */
const FILTERS = ['key', 'model', 'provider', 'preset', 'user_id', 'workspace_id', 'interface'] as const

export type SpendFilterValues = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>

export const spendFilterOf = (search: Search): SpendFilterValues =>
  Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = search[name] ?? (name === 'workspace_id' ? search['workspace'] : undefined)
      return value === undefined ? [] : [[name, value]]
    }),
  )

const PARAMETERS: Readonly<Record<Dimension, (typeof FILTERS)[number]>> = {
  key: 'key',
  model: 'model',
  provider: 'provider',
  preset: 'preset',
  user: 'user_id',
  workspace: 'workspace_id',
  interface: 'interface',
}

const DEEPER: Readonly<Record<Dimension, Dimension | null>> = {
  workspace: 'user',
  user: 'key',
  key: 'model',
  provider: 'model',
  model: 'preset',
  preset: null,
  interface: 'model',
}

export type Lead = { readonly kind: 'deeper'; readonly search: Search } | { readonly kind: 'requests'; readonly q: string } | null

/** Null for what no filter can name: the others together, and what has no value. */
export const leadOf = (group: UsageGroup, dimension: Dimension, filter: SpendFilterValues): Lead => {
  const value = group.other === true ? null : group[dimension]
  if (value === null || value === undefined) return null
  const parameter = PARAMETERS[dimension]
  const deeper = DEEPER[dimension]
  const narrowed = { ...filter, [parameter]: value }
  if (deeper !== null && filter[PARAMETERS[deeper]] === undefined) return { kind: 'deeper', search: { ...narrowed, group: deeper } }
  return { kind: 'requests', q: requestsFilter(narrowed) }
}

const WORDS: Readonly<Record<(typeof FILTERS)[number], string | null>> = {
  key: 'key',
  model: 'model',
  provider: 'provider',
  preset: 'preset',
  user_id: 'user',
  workspace_id: null,
  interface: 'interface',
}

/** As the list of requests is filtered. */
export const requestsFilter = (filter: SpendFilterValues): string =>
  FILTERS.flatMap((name) => {
    const [word, value] = [WORDS[name], filter[name]]
    return word === null || value === undefined ? [] : [`${word}:${/[\s"]/.test(value) ? JSON.stringify(value) : value}`]
  }).join(' ')
