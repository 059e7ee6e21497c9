/** The part of the spend that the address names, and the link of each group: one step deeper, and at last to its requests. */
import type { UsageGroup } from '../../api/usage.ts'
import type { TimeRange } from '../../range.ts'
import type { Search } from '../../search.ts'
import { filterText } from '../requests/filter.ts'
import { type Dimension, type Dimensions, DIMENSIONS } from './spend-series.ts'

/** The parameters of the address are those of the API. */
const FILTERS = ['key', 'model', 'provider', 'preset', 'user_id', 'workspace_id', 'interface', 'error_type'] as const

export type SpendFilterValues = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>

/** A filter for a list of requests. Sums have no filter for requests without a preset. */
export type CountedFilter = SpendFilterValues & { readonly has_preset?: 'no'; readonly status?: 'error' }

export const spendFilterOf = (search: Search): SpendFilterValues =>
  Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = search[name] ?? (name === 'workspace_id' ? search['workspace'] : undefined)
      return value === undefined ? [] : [[name, value]]
    }),
  )

export const PARAMETERS: Readonly<Record<Dimension, (typeof FILTERS)[number]>> = {
  key: 'key',
  model: 'model',
  provider: 'provider',
  preset: 'preset',
  user: 'user_id',
  workspace: 'workspace_id',
  interface: 'interface',
  error_type: 'error_type',
}

export const narrowedTo = (filter: SpendFilterValues): readonly Dimension[] =>
  DIMENSIONS.flatMap(({ id }) => (filter[PARAMETERS[id]] === undefined ? [] : [id]))

const DEEPER: Readonly<Record<Dimension, Dimension | null>> = {
  workspace: 'user',
  user: 'key',
  key: 'model',
  provider: 'model',
  model: 'preset',
  preset: null,
  interface: 'model',
  error_type: 'key',
}

/** The dimensions that the sums are grouped by: `group`, and `and` if there is a second one. */
export const dimensionsOf = ({ group, and }: Search): Dimensions => {
  const [first = 'key', second] = [group, and].map((name) => DIMENSIONS.find(({ id }) => id === name)?.id)
  return second === undefined || second === first ? [first] : [first, second]
}

/** The link of a group: to the next dimension, or, if there is none left, to the list of its requests. */
export type Lead =
  | { readonly kind: 'deeper'; readonly search: Search }
  | { readonly kind: 'requests'; readonly filter: CountedFilter }
  | null

/** Returns null for groups that no filter can name: the combined group, and groups without a value. */
export const leadOf = (group: UsageGroup, dimension: Dimension, dimensions: Dimensions, filter: SpendFilterValues): Lead => {
  const narrowed = countedBy(group, [dimension], filter)
  if (narrowed === null) return null
  if (narrowed.has_preset !== undefined) return { kind: 'requests', filter: narrowed }
  const other = dimensions.find((one) => one !== undefined && one !== dimension)
  const deeper = other ?? DEEPER[dimension]
  if (deeper !== null && (other !== undefined || filter[PARAMETERS[deeper]] === undefined))
    return { kind: 'deeper', search: { ...narrowed, group: deeper, and: undefined } }
  return { kind: 'requests', filter: narrowed }
}

/** The filter for exactly the requests that the group counts; null if no filter can name them. */
export const countedBy = (group: UsageGroup, dimensions: Dimensions, filter: SpendFilterValues): CountedFilter | null => {
  if (group.other === true) return null
  const narrowed: Partial<Record<(typeof FILTERS)[number], string>> & { has_preset?: 'no' } = { ...filter }
  for (const dimension of dimensions) {
    if (dimension === undefined) continue
    const value = group[dimension]
    if (value !== null && value !== undefined) narrowed[PARAMETERS[dimension]] = value
    else if (dimension === 'preset') narrowed.has_preset = 'no'
    else return null
  }
  return narrowed
}

const WORDS: Readonly<Record<(typeof FILTERS)[number], string | null>> = {
  key: 'key',
  model: 'model',
  provider: 'provider',
  preset: 'preset',
  user_id: 'user',
  workspace_id: null,
  interface: 'interface',
  error_type: 'error',
}

/** The address of the list of these requests. Sums are over whole hours, so the list gets the range that was summed. */
export const requestsSearch = (filter: CountedFilter, { from, to }: Pick<TimeRange, 'from' | 'to'>): Search => ({
  q: filterText({
    ...Object.fromEntries(FILTERS.flatMap((name) => (WORDS[name] === null ? [] : [[WORDS[name], filter[name]]]))),
    has_preset: filter.has_preset,
    status: filter.status,
  }),
  from,
  to,
  // The list takes the workspace from the workspace switch, which accepts an id too.
  ...(filter.workspace_id === undefined ? {} : { workspace: filter.workspace_id }),
})
