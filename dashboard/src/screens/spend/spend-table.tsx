import { Link } from '@tanstack/react-router'

import type { Usage } from '../../api/usage.ts'
import { asHead, count } from '../../format.ts'
import { Compact, Money, MoneyChange } from '../../parts/amount.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Table } from '../../parts/table.tsx'
import { countedBy, leadOf, requestsSearch, type SpendFilterValues } from './spend-groups.ts'
import { type Dimension, type Dimensions, DIMENSIONS, groupValue, type Measure, type Names, totalCost, valueName } from './spend-series.ts'
import { percent } from '../../units.ts'

type Group = Usage['groups'][number]

interface SpendTableProps {
  readonly used: Usage
  /** The same sums of the time before; null if they could not be read. */
  readonly before: Usage | null
  readonly dimensions: Dimensions
  readonly filter: SpendFilterValues
  readonly names: Names
  readonly measure: Measure
}

export const SpendTable = ({ used, before, dimensions, filter, names, measure }: SpendTableProps) => {
  const { groups } = used
  const costs = costsBefore(used, before, dimensions)
  const costBefore = (group: Group): number | null => costs.get(groupValue(group, dimensions)) ?? null
  const total = totalCost(used)
  return (
    <Table
      label={`Spend by ${dimensions.join(' and ')}`}
      rows={groups}
      rowKey={(group) => groupValue(group, dimensions)}
      empty={<Empty>Nothing was spent in this time.</Empty>}
      columns={[
        ...dimensions.flatMap((dimension, place) =>
          dimension === undefined
            ? []
            : [
                {
                  title: asHead(DIMENSIONS.find(({ id }) => id === dimension)?.title ?? dimension),
                  isHead: place === 0,
                  cell: (group: Group) =>
                    place > 0 && group.other === true ? null : (
                      <GroupLink group={group} dimension={dimension} used={used} dimensions={dimensions} filter={filter} names={names} />
                    ),
                },
              ],
        ),
        { title: 'Cost', align: 'right', cell: ({ cost }) => <Money of={cost} /> },
        { title: 'Before', align: 'right', cell: (group) => <Money of={costBefore(group)} />, wideOnly: true },
        { title: 'Change', align: 'right', cell: (group) => <MoneyChange to={group.cost} from={costBefore(group)} />, wideOnly: true },
        { title: 'Share', align: 'right', cell: ({ cost }) => percent(total === 0 ? 0 : cost / total), wideOnly: true },
        {
          title: 'Requests',
          align: 'right',
          cell: (group) => <Requests group={group} used={used} dimensions={dimensions} filter={filter} />,
        },
        {
          title: 'Failed',
          align: 'right',
          cell: (group) => <Requests group={group} used={used} dimensions={dimensions} filter={filter} isFailed />,
          wideOnly: measure !== 'errors',
        },
        {
          title: 'Tokens',
          align: 'right',
          cell: ({ tokens_prompt, tokens_completion }) => (
            <>
              <Compact of={tokens_prompt} /> → <Compact of={tokens_completion} />
            </>
          ),
          wideOnly: true,
        },
        { title: 'Own keys', align: 'right', cell: ({ byok_cost }) => <Money of={byok_cost} />, wideOnly: true },
      ]}
    />
  )
}

interface GroupProps extends Pick<SpendTableProps, 'used' | 'dimensions' | 'filter'> {
  readonly group: Group
}

type GroupLinkProps = GroupProps & Pick<SpendTableProps, 'names'> & { readonly dimension: Dimension }

const GroupLink = ({ group, used, dimension, dimensions, filter, names }: GroupLinkProps) => {
  const name = valueName(group, dimension, names)
  const lead = leadOf(group, dimension, dimensions, filter)
  if (lead === null) return <span title={group.other === true ? OTHERS : undefined}>{name}</span>
  return lead.kind === 'deeper' ? (
    <Link className="group-name" to="." search={(before) => ({ ...before, ...lead.search })}>
      {name}
    </Link>
  ) : (
    <Link className="group-name" to="/requests" search={requestsSearch(lead.filter, used)}>
      {name}
    </Link>
  )
}

/**
 * By group. Not in it is a group that the time before may have among its own others; the others have what is left of the whole time before.
 */
const costsBefore = (used: Usage, before: Usage | null, dimensions: Dimensions): ReadonlyMap<string, number> => {
  if (before === null) return new Map()
  const known = new Map(before.groups.map((group) => [groupValue(group, dimensions), group.cost]))
  const isWhole = !before.groups.some(({ other }) => other === true)
  const named = used.groups.filter(({ other }) => other !== true).map((group) => groupValue(group, dimensions))
  const costs = new Map(named.flatMap((group) => (isWhole || known.has(group) ? [[group, known.get(group) ?? 0] as const] : [])))
  const rest = totalCost(before) - [...costs.values()].reduce((sum, cost) => sum + cost, 0)
  return costs.size < named.length ? costs : costs.set('others', Math.max(0, rest))
}

const OTHERS = 'All groups together that are not listed by themselves: no filter of requests names them.'

const Requests = ({ group, used, dimensions, filter, isFailed = false }: GroupProps & { readonly isFailed?: boolean }) => {
  const counted = countedBy(group, dimensions, filter)
  const requests = isFailed ? group.errors : group.requests
  return counted === null || requests === 0 ? (
    <>{count(requests)}</>
  ) : (
    <Link to="/requests" search={requestsSearch(isFailed ? { ...counted, status: 'error' } : counted, used)}>
      {count(requests)}
    </Link>
  )
}
