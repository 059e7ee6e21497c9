import { Link } from '@tanstack/react-router'

import type { Usage } from '../../api/usage.ts'
import { asHead, compact, count, money, percent } from '../../format.ts'
import { Empty } from '../../parts/empty.tsx'
import { Table } from '../../parts/table.tsx'
import { countedBy, leadOf, requestsSearch, type SpendFilterValues } from './spend-groups.ts'
import { type Dimension, type Dimensions, DIMENSIONS, groupValue, valueName } from './spend-series.ts'

type Group = Usage['groups'][number]

interface SpendTableProps {
  readonly used: Usage
  readonly dimensions: Dimensions
  readonly filter: SpendFilterValues
}

export const SpendTable = ({ used, dimensions, filter }: SpendTableProps) => {
  const { groups } = used
  const total = groups.reduce((sum, { cost }) => sum + cost, 0)
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
                      <GroupLink group={group} dimension={dimension} used={used} dimensions={dimensions} filter={filter} />
                    ),
                },
              ],
        ),
        { title: 'Cost', align: 'right', cell: ({ cost }) => money(cost) },
        { title: 'Share', align: 'right', cell: ({ cost }) => percent(total === 0 ? 0 : cost / total), wideOnly: true },
        {
          title: 'Requests',
          align: 'right',
          cell: (group) => <Requests group={group} used={used} dimensions={dimensions} filter={filter} />,
        },
        {
          title: 'Tokens',
          align: 'right',
          cell: ({ tokens_prompt, tokens_completion }) => `${compact(tokens_prompt)} → ${compact(tokens_completion)}`,
          wideOnly: true,
        },
        { title: 'Own keys', align: 'right', cell: ({ byok_cost }) => money(byok_cost), wideOnly: true },
      ]}
    />
  )
}

interface GroupProps extends SpendTableProps {
  readonly group: Group
}

const GroupLink = ({ group, used, dimension, dimensions, filter }: GroupProps & { readonly dimension: Dimension }) => {
  const name = valueName(group, dimension)
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

const OTHERS = 'All groups together that are not listed by themselves: no filter of requests names them.'

const Requests = ({ group, used, dimensions, filter }: GroupProps) => {
  const counted = countedBy(group, dimensions, filter)
  return counted === null ? (
    <>{count(group.requests)}</>
  ) : (
    <Link to="/requests" search={requestsSearch(counted, used)}>
      {count(group.requests)}
    </Link>
  )
}
