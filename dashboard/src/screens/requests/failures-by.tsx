/** Where requests failed most, by the kind of failure, or by key, model or preset. Each row leads to the failed requests that it counts. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import type { Query } from '../../api/path.ts'
import { usage, type Usage } from '../../api/usage.ts'
import { asHead, count } from '../../format.ts'
import { Empty } from '../../parts/empty.tsx'
import { KeyName } from '../../parts/key-name.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Table } from '../../parts/table.tsx'
import type { TimeRange } from '../../range.ts'
import { percent } from '../../units.ts'
import { withValues } from './filter.ts'

type Group = Usage['groups'][number]

/** For each grouping its title, the name of a group, and the filter for its failed requests. */
const BY = {
  error_type: { title: 'type', name: ({ error_type: type }: Group) => type, filter: ({ error_type: error }: Group) => ({ error }) },
  key: {
    title: 'key',
    name: ({ key_name: name, key }: Group) => name ?? key?.slice(0, 8),
    filter: ({ key }: Group) => ({ status: 'error', key }),
  },
  model: { title: 'model', name: ({ model }: Group) => model, filter: ({ model }: Group) => ({ status: 'error', model }) },
  preset: {
    title: 'preset',
    name: ({ preset }: Group) => preset ?? 'no preset',
    filter: ({ preset }: Group) => (preset === null ? { status: 'error', has_preset: 'no' } : { status: 'error', preset }),
  },
} as const

export type FailuresDimension = keyof typeof BY

/** The groupings that a person chooses from; the kind of failure has a list of its own. */
export const FAILURE_OWNERS = ['key', 'model', 'preset'] as const

export const failuresTitle = (by: FailuresDimension): string => `Failures by ${BY[by].title}`

/** This many are named; the others are one row. */
const TOP = 6

interface FailuresByProps {
  readonly by: FailuresDimension
  readonly range: TimeRange
  /** The filter of the sums, and the same as the text of the list’s filter. */
  readonly filter: Query
  readonly q?: string
}

export const FailuresBy = ({ by, range: { from, to, interval }, filter, q = '' }: FailuresByProps) => {
  const { title, name, filter: filterOf } = BY[by]
  const used = useQuery({
    // In minutes where the other figures of the page are, so that they agree.
    ...usage({ ...filter, from, to, interval: interval === 'minute' ? 'minute' : 'month', group_by: by, sort: 'errors', top: TOP }),
    refetchInterval: 30_000,
    placeholderData: (before) => before,
  })
  return (
    <Loaded query={used} rows={4}>
      {({ groups, from: first, to: last }) => (
        <Table
          label={failuresTitle(by)}
          rows={groups.filter(({ errors }) => errors > 0)}
          rowKey={(group) => (group.other === true ? 'others' : JSON.stringify(filterOf(group)))}
          empty={<Empty>Nothing failed in this time.</Empty>}
          columns={[
            {
              title: asHead(title),
              isHead: true,
              cell: (group) =>
                group.other === true ? (
                  'others'
                ) : (
                  <Link
                    className="cut top-name"
                    dir="auto"
                    title={name(group) ?? undefined}
                    to="/requests"
                    search={(before) => ({ ...before, range: undefined, from: first, to: last, q: withValues(q, filterOf(group)) })}
                  >
                    {by === 'key' ? <KeyName name={name(group) ?? ''} /> : name(group)}
                  </Link>
                ),
            },
            { title: 'Failed', align: 'right', cell: ({ errors }) => count(errors) },
            ...(by === 'error_type'
              ? []
              : [{ title: 'Of its requests', align: 'right' as const, cell: (group: Group) => percent(group.errors / group.requests) }]),
          ]}
        />
      )}
    </Loaded>
  )
}
