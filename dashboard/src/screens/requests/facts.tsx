/** The facts of a request, in groups. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { Generation } from '../../api/generations.ts'
import { providerList } from '../../api/providers.ts'
import { count } from '../../format.ts'
import { Copy } from '../../parts/copy.tsx'
import { KeyName } from '../../parts/key-name.tsx'
import { Person } from '../../parts/person.tsx'
import { filterText } from './filter.ts'
import { duration } from '../../units.ts'

export const Facts = ({ record }: { record: Generation }) => (
  <div className="facts">
    <Group title="Asked for">
      <Fact name="Model">{record.model}</Fact>
      <Fact name="Interface">{record.interface}</Fact>
      <Fact name="Streamed">{record.streamed ? 'yes' : 'no'}</Fact>
      <Fact name="Session">
        {record.session_id === null ? null : <Same filter={{ session: record.session_id }}>{record.session_id}</Same>}
      </Fact>
      <Fact name="Key">
        {record.api_key_name === null ? null : (
          <Same filter={{ key: record.api_key_hash }}>
            <KeyName name={record.api_key_name} />
          </Same>
        )}
      </Fact>
      <Fact name="Person">{record.user_id === null ? null : <Person id={record.user_id} />}</Fact>
      <Fact name="User of the client">{record.external_user}</Fact>
      <Fact name="Client">{record.user_agent}</Fact>
      <Fact name="Origin">{record.origin}</Fact>
    </Group>
    <Group title="Answered">
      <Fact name="Provider">{record.provider_name === null ? null : <ProviderNamed name={record.provider_name} />}</Fact>
      <Fact name="Ended because">{record.finish_reason}</Fact>
      <Fact name="First token after">{record.latency === null ? null : duration(record.latency)}</Fact>
      <Fact name="Whole answer after">{record.generation_time === null ? null : duration(record.generation_time)}</Fact>
      <Fact name="Tokens">
        {count(record.tokens_prompt)} → {count(record.tokens_completion)}
      </Fact>
      <Fact name="Service tier">{record.service_tier}</Fact>
      <Fact name="Steps">{record.steps}</Fact>
      <Fact name="Request id">{record.request_id === null ? null : <Copy text={record.request_id}>{record.request_id}</Copy>}</Fact>
      <Fact name="Id at the provider">
        {record.upstream_id === null ? null : <Copy text={record.upstream_id}>{record.upstream_id}</Copy>}
      </Fact>
    </Group>
    {record.server_tool_calls === null || record.server_tool_calls.length === 0 ? null : (
      <Group title="Tools of the service">
        {record.server_tool_calls.map(({ tool, status, duration_ms, step }, index) => (
          <Fact key={index} name={tool}>
            {status}, {duration(duration_ms)}, step {step}
          </Fact>
        ))}
      </Group>
    )}
    {record.settings === null ? null : (
      <Group title="Settings">
        {Object.entries({ ...record.settings, ...record.settings_carried }).map(([name, value]) => (
          <Fact key={name} name={name}>
            <code>{JSON.stringify(value)}</code>
          </Fact>
        ))}
        {record.settings_left_out.length === 0 ? null : <Fact name="Too long to keep">{record.settings_left_out.join(', ')}</Fact>}
      </Group>
    )}
  </div>
)

/** A record has the name alone, and requests are filtered by the slug. */
const ProviderNamed = ({ name }: { name: string }) => {
  const slug = useQuery(providerList).data?.find((provider) => provider.name === name)?.slug
  return slug === undefined ? name : <Same filter={{ provider: slug }}>{name}</Same>
}

const Group = ({ title, children }: { title: string; children: ReactNode }) => (
  <section>
    <h2>{title}</h2>
    <dl>{children}</dl>
  </section>
)

/** Leaves out an unknown fact. */
const Fact = ({ name, children }: { name: string; children: ReactNode }) =>
  children === null || children === undefined || children === '' ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )

const Same = ({ filter, children }: { filter: Record<string, string>; children: ReactNode }) => (
  <Link to="/requests" search={{ q: filterText(filter) }}>
    {children}
  </Link>
)
