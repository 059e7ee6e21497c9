import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'

import { usage, type Usage } from '../../api/usage.ts'
import { asHead } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
import { Empty } from '../../parts/empty.tsx'
import { KeyName } from '../../parts/key-name.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Meter } from '../../parts/meter.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Table } from '../../parts/table.tsx'
import { filterText } from '../requests/filter.ts'
import type { Scope } from './scope.ts'

type Group = Usage['groups'][number]

const BY = {
  key: { title: 'key', name: ({ key_name: name, key }: Group) => name ?? key ?? null, filter: ({ key }: Group) => ({ key }) },
  model: { title: 'model', name: ({ model }: Group) => model ?? null, filter: ({ model }: Group) => ({ model }) },
  preset: { title: 'preset', name: ({ preset }: Group) => preset ?? null, filter: ({ preset }: Group) => ({ preset }) },
} as const

export const TopSpend = ({ range: { from, to }, workspace }: Scope) => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const by = search['by'] === 'model' || search['by'] === 'preset' ? search['by'] : 'key'
  const used = useQuery({
    ...usage({ from, to, interval: 'day', group_by: by, top: 5, workspace_id: workspace }),
    placeholderData: (before) => before,
  })
  return (
    <Panel
      title={`Top spend by ${BY[by].title}`}
      actions={
        <select
          aria-label="Top spend by"
          value={by}
          onChange={(event) =>
            void navigate({ to: '.', search: (before) => ({ ...before, by: event.target.value }), replace: true, resetScroll: false })
          }
        >
          {Object.entries(BY).map(([id, { title }]) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      }
    >
      <Loaded query={used} rows={4}>
        {({ groups, ...summed }) => {
          const named = groups.filter((group) => group.other !== true && BY[by].name(group) !== null)
          const top = Math.max(...named.map(({ cost }) => cost), 0)
          return (
            <Table
              label={`Top spend by ${by}`}
              rows={named}
              rowKey={(group) => JSON.stringify(BY[by].filter(group))}
              empty={<Empty>Nothing was spent in this time.</Empty>}
              columns={[
                {
                  title: asHead(BY[by].title),
                  isHead: true,
                  cell: (group) => (
                    <Link
                      className="cut top-name"
                      dir="auto"
                      title={BY[by].name(group) ?? undefined}
                      to="/requests"
                      search={{ from: summed.from, to: summed.to, q: filterText(BY[by].filter(group)) }}
                    >
                      {by === 'key' ? <KeyName name={BY.key.name(group) ?? ''} /> : BY[by].name(group)}
                    </Link>
                  ),
                },
                { title: 'Cost', align: 'right', cell: ({ cost }) => <Money of={cost} /> },
                {
                  title: 'Share',
                  align: 'right',
                  cell: (group) => (
                    <Meter isLimit={false} label={`${BY[by].name(group)}, compared with the first`} used={group.cost} limit={top || 1} />
                  ),
                },
              ]}
            />
          )
        }}
      </Loaded>
    </Panel>
  )
}
