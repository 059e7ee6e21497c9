import type { Usage } from '../../api/usage.ts'
import { count } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
import { Table } from '../../parts/table.tsx'
import { duration, percent } from '../../units.ts'

/** The usage figures of each version, side by side. */
export const VersionFigures = ({ groups }: { groups: Usage['groups'] }) => (
  <Table
    label="Figures of the versions"
    rows={groups}
    rowKey={({ preset_version: version }) => String(version)}
    empty={<p className="soft">Neither version was used in the last 24 hours.</p>}
    columns={[
      {
        title: 'Version',
        isHead: true,
        cell: ({ preset_version: version }) => (version === null || version === undefined ? 'others' : `v${version}`),
      },
      { title: 'Requests', align: 'right', cell: ({ requests }) => count(requests) },
      { title: 'Errors', align: 'right', cell: ({ requests, errors }) => percent(requests === 0 ? null : errors / requests) },
      { title: 'First token, p50', align: 'right', cell: ({ ttft_p50 }) => duration(ttft_p50) },
      { title: 'Cost a request', align: 'right', cell: ({ requests, cost }) => <Money of={requests === 0 ? null : cost / requests} /> },
    ]}
  />
)
