/** The effective settings of the service, read-only. Each value has its source, which is where to change it. */
import type { EffectiveSetting, ServiceFacts } from '../../api/settings.ts'
import { instant } from '../../format.ts'
import { Facts } from '../../parts/facts.tsx'
import { Table } from '../../parts/table.tsx'

export const EffectiveSettings = ({ facts }: { facts: ServiceFacts }) => (
  <div className="stack">
    <Facts
      facts={[
        ['Version', facts.version],
        ['Storage', facts.engine],
        ['Since', instant(facts.started_at)],
        ...(facts.processes.length === 0 ? [] : [['Processes', facts.processes.length] as const]),
      ]}
    />
    {facts.config_errors.map((fault) => (
      <p className="note bad" role="alert" key={fault}>
        The file was not reloaded: {fault}
      </p>
    ))}
    <Table
      label="Effective configuration"
      rows={facts.settings}
      rowKey={({ name }) => name}
      empty={<p className="soft">The settings are for admins of the default workspace.</p>}
      columns={[
        { title: 'Setting', isHead: true, cell: ({ name }) => <code>{name}</code> },
        { title: 'Value', cell: ({ value }) => <code className="setting-value">{shown(value)}</code> },
        { title: 'From', cell: sourceOf, wideOnly: true },
      ]}
    />
  </div>
)

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const sourceOf = ({ source, place }: EffectiveSetting): string => (place === null ? source : `${source}: ${place}`)
