import { Link } from '@tanstack/react-router'

import type { Usage } from '../../api/usage.ts'
import { compact, count, money, percent } from '../../format.ts'
import { Empty } from '../../parts/empty.tsx'
import { Table } from '../../parts/table.tsx'
import { leadOf, type SpendFilterValues } from './spend-groups.ts'
import { type Dimension, DIMENSIONS, groupName, groupValue } from './spend-series.ts'

type Group = Usage['groups'][number]

interface SpendTableProps {
  readonly used: Usage
  readonly dimension: Dimension
  readonly filter: SpendFilterValues
}

export const SpendTable = ({ used, dimension, filter }: SpendTableProps) => {
  const { groups } = used
  const total = groups.reduce((sum, { cost }) => sum + cost, 0)
  return (
    <Table
      label={`Spend by ${dimension}`}
      rows={groups}
      rowKey={(group) => groupValue(group, dimension) ?? ''}
      empty={<Empty>Nothing was spent in this time.</Empty>}
      columns={[
        {
          title: DIMENSIONS.find(({ id }) => id === dimension)?.title ?? dimension,
          isHead: true,
          cell: (group) => <GroupLink group={group} used={used} dimension={dimension} filter={filter} />,
        },
        { title: 'Cost', align: 'right', cell: ({ cost }) => money(cost) },
        { title: 'Share', align: 'right', cell: ({ cost }) => percent(total === 0 ? 0 : cost / total), wideOnly: true },
        { title: 'Requests', align: 'right', cell: ({ requests }) => count(requests) },
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

const GroupLink = ({ group, used, dimension, filter }: SpendTableProps & { readonly group: Group }) => {
  const name = groupName(group, dimension)
  const lead = leadOf(group, dimension, filter)
  if (lead === null) return <>{name}</>
  return lead.kind === 'deeper' ? (
    <Link to="." search={(before) => ({ ...before, ...lead.search })}>
      {name}
    </Link>
  ) : (
    // Sums are of whole hours: the list has the time that was summed.
    <Link to="/requests" search={{ q: lead.q, from: used.from, to: used.to }}>
      {name}
    </Link>
  )
}
