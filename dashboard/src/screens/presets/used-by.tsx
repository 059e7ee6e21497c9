/** The keys that used the preset in the last 30 days, version by version. */
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { usage } from '../../api/usage.ts'
import { count } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
import { Empty } from '../../parts/empty.tsx'
import { KeyName } from '../../parts/key-name.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Table } from '../../parts/table.tsx'
import { useNow } from '../../parts/when.tsx'
import { rangeOf } from '../../range.ts'
import { filterText } from '../requests/filter.ts'
import type { PresetParts } from './preset-parts.ts'

export const UsedBy = ({ preset: { slug, designated_version: live } }: PresetParts) => {
  const { workspace } = useSearch({ strict: false })
  const [openedAt] = useState(useNow())
  const { from, to } = rangeOf({ range: '30d' }, openedAt)
  const used = useQuery(
    usage({ preset: slug, group_by: 'key,preset_version', top: 50, from, to, interval: 'day', workspace_id: workspace }),
  )
  return (
    <Panel title="Keys of the last 30 days">
      <Loaded query={used} rows={4}>
        {({ groups }) => {
          const rows = groups.filter(({ other }) => other !== true)
          const older = new Set(rows.flatMap(({ key, preset_version: version }) => (version !== live.version && key ? [key] : [])))
          return (
            <>
              {older.size === 0 ? null : (
                <p className="soft">
                  {older.size === 1 ? '1 key was' : `${older.size} keys were`} served another version than v{live.version}, which is live.
                </p>
              )}
              <Table
                label="Keys that used the preset"
                rows={rows}
                rowKey={({ key, preset_version: version }) => `${key} ${version}`}
                empty={<Empty>Nobody has used this preset in the last 30 days.</Empty>}
                columns={[
                  {
                    title: 'Key',
                    isHead: true,
                    cell: ({ key, key_name: name }) =>
                      key ? (
                        <Link to="/keys" search={{ key }}>
                          <KeyName name={name ?? key.slice(0, 8)} />
                        </Link>
                      ) : (
                        '–'
                      ),
                  },
                  { title: 'Version', cell: ({ preset_version: version }) => `v${version}` },
                  {
                    title: 'Requests',
                    align: 'right',
                    cell: ({ key, preset_version: version, requests }) => (
                      <Link to="/requests" search={{ q: filterText({ preset: slug, version, key }), range: '30d' }}>
                        {count(requests)}
                      </Link>
                    ),
                  },
                  { title: 'Errors', align: 'right', cell: ({ errors }) => count(errors) },
                  { title: 'Cost', align: 'right', cell: ({ cost }) => <Money of={cost} /> },
                ]}
              />
            </>
          )
        }}
      </Loaded>
    </Panel>
  )
}
