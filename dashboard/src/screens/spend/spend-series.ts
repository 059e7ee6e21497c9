/** The sums of the API as a chart: one series for each group, in the order of the groups. */
import type { Usage, UsageGroup, UsageSums } from '../../api/usage.ts'
import type { Series, Slot } from '../../parts/columns-chart.tsx'
import { slotsOf, type TimeRange } from '../../range.ts'
import { slotLabel } from '../../usage-slots.ts'

export const DIMENSIONS = [
  { id: 'key', title: 'key' },
  { id: 'model', title: 'model' },
  { id: 'provider', title: 'provider' },
  { id: 'preset', title: 'preset' },
  { id: 'user', title: 'person' },
  { id: 'workspace', title: 'workspace' },
  { id: 'interface', title: 'interface' },
  { id: 'error_type', title: 'type of failure' },
] as const

export type Dimension = (typeof DIMENSIONS)[number]['id']

/** The one dimension, or two, that the sums are grouped by. */
export type Dimensions = readonly [Dimension, Dimension?]

export const MEASURES = [
  { id: 'cost', title: 'cost' },
  { id: 'tokens', title: 'tokens' },
  { id: 'requests', title: 'requests' },
  { id: 'errors', title: 'failures' },
] as const

export type Measure = (typeof MEASURES)[number]['id']

const measured = (sums: UsageSums, measure: Measure): number =>
  measure === 'tokens' ? sums.tokens_prompt + sums.tokens_completion : sums[measure]

export const totalCost = ({ groups }: Usage): number => groups.reduce((sum, { cost }) => sum + cost, 0)

/** The identifier of a group; the combined group has one of its own. */
export const groupValue = (group: UsageGroup, dimensions: Dimensions): string =>
  group.other === true ? 'others' : JSON.stringify(dimensions.map((dimension) => (dimension === undefined ? null : group[dimension])))

/** The name of a value that is an id, or of a key whose name has one; undefined where the value is its own name. */
export type Names = (dimension: Dimension, value: string) => string | undefined

export const valueName = (group: UsageGroup, dimension: Dimension, names: Names): string => {
  if (group.other === true) return 'others'
  if (dimension === 'key') return names('key', group.key_name ?? '') ?? group.key_name ?? group.key?.slice(0, 8) ?? 'no key'
  const value = group[dimension] ?? null
  if (value === null) return NONE[dimension] ?? 'unknown'
  if (dimension === 'user') return group.user_name ?? names(dimension, value) ?? value
  return names(dimension, value) ?? (dimension === 'workspace' ? group.workspace_slug : undefined) ?? value
}

const NONE: Partial<Record<Dimension, string>> = { preset: 'no preset', error_type: 'did not fail' }

const groupName = (group: UsageGroup, dimensions: Dimensions, names: Names): string =>
  group.other === true
    ? 'others'
    : dimensions.flatMap((dimension) => (dimension === undefined ? [] : [valueName(group, dimension, names)])).join(' × ')

export const seriesOf = (
  { data, groups, interval }: Usage,
  dimensions: Dimensions,
  measure: Measure,
  { from: first, to: last }: Pick<TimeRange, 'from' | 'to'>,
  names: Names,
): { readonly series: readonly Series[]; readonly slots: readonly Slot[] } => {
  const places = new Map(groups.map((group, index) => [groupValue(group, dimensions), index]))
  const sums = new Map<number, number[]>()
  for (const point of data) {
    const place = places.get(groupValue(point, dimensions))
    if (place === undefined) continue
    const at = Date.parse(point.time)
    const values = sums.get(at) ?? groups.map(() => 0)
    values[place] = (values[place] ?? 0) + measured(point, measure)
    sums.set(at, values)
  }
  const nothing = groups.map(() => 0)
  return {
    series: groups.map((group) => ({ name: groupName(group, dimensions, names) })),
    slots: slotsOf({ from: first, to: last, interval }).map(({ from, to }) => ({
      from,
      to,
      label: slotLabel(from, interval),
      values: sums.get(Date.parse(from)) ?? nothing,
    })),
  }
}
