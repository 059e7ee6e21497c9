/** Who changed what and when, with the object before and after. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'

import { type AuditEntry, auditLog } from '../../api/audit.ts'
import { serviceFacts } from '../../api/settings.ts'
import { Button } from '../../parts/button.tsx'
import { ClearFilter } from '../../parts/clear-filter.tsx'
import { CopyCurl } from '../../parts/copy-curl.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Person } from '../../parts/person.tsx'
import { RangeSelect } from '../../parts/range-select.tsx'
import { saveCsv } from '../../parts/save-csv.ts'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { useNow, When } from '../../parts/when.tsx'
import { rangeOf } from '../../range.ts'
import { AuditChange } from './audit-change.tsx'
import { ObjectLink } from './object-link.tsx'

export const AuditScreen = () => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const range = rangeOf(search, useNow(), '30d')
  const filter = {
    from: range.from,
    to: range.to,
    object_type: search['object'],
    user_id: search['person'],
    action: search['action'],
    workspace_id: search['workspace'],
  }
  const entries = useInfiniteQuery(auditLog(filter))
  const isFiltered = FILTERS.some((name) => search[name] !== undefined)
  return (
    <>
      <ScreenHead title="Audit">
        <RangeSelect usual="30d" />
        <CopyCurl path="/audit-log" query={filter} />
        <Button onClick={() => saveCsv('/audit-log', filter, 'audit.csv')}>CSV</Button>
      </ScreenHead>
      <div className="filters">
        <SearchField label="Person" placeholder="Person" parameter="person" />
        <ObjectSelect
          chosen={search['object'] ?? ''}
          choose={(object) => void navigate({ to: '.', search: (before) => ({ ...before, object }) })}
        />
      </div>
      <Panel title="Changes" quiet>
        <Loaded query={entries} rows={10}>
          {(found) => (found.length === 0 && entries.hasNextPage ? null : <Entries entries={found} isFiltered={isFiltered} />)}
        </Loaded>
        <ShowMore list={entries} shown={entries.data?.length ?? 0} />
      </Panel>
    </>
  )
}

/** The kind that the address names can be chosen before the service has sent its list of kinds. */
const ObjectSelect = ({ chosen, choose }: { chosen: string; choose: (object: string | undefined) => void }) => {
  const { data: facts } = useQuery(serviceFacts)
  const objects = new Set([...(facts?.audit_objects ?? []), ...(chosen === '' ? [] : [chosen])])
  return (
    <select aria-label="Object" value={chosen} onChange={(event) => choose(event.target.value === '' ? undefined : event.target.value)}>
      <option value="">every object</option>
      {[...objects].map((object) => (
        <option key={object} value={object}>
          {wordsOf(object)}
        </option>
      ))}
    </select>
  )
}

const FILTERS = ['object', 'person', 'action'] as const

const Entries = ({ entries, isFiltered }: { entries: readonly AuditEntry[]; isFiltered: boolean }) => {
  if (entries.length === 0 && isFiltered)
    return <Empty action={<ClearFilter parameters={FILTERS} />}>No change in this time fits the filter.</Empty>
  if (entries.length === 0) return <Empty>Nobody changed anything in this time.</Empty>
  return (
    <ol className="audit">
      {entries.map((entry, index) => (
        <li key={`${entry.id}${index}`}>
          <span className="audit-when">
            <When at={entry.created_at} exact />
          </span>
          <Who of={entry} />
          <span className="audit-what">
            <strong>{wordsOf(entry.action)}</strong> <span className="faint">{wordsOf(entry.object_type)}</span> <ObjectLink of={entry} />
          </span>
          <AuditChange of={entry} />
        </li>
      ))}
    </ol>
  )
}

const wordsOf = (name: string): string => name.replaceAll('_', ' ')

/** A long name is cut, so that the text after it stays visible. */
const Who = ({ of: { user_id, key_hash, session_id } }: { of: AuditEntry }) => {
  const by =
    session_id !== null ? (
      'session'
    ) : key_hash === null ? (
      'shell'
    ) : (
      <Link to="/keys" search={{ key: key_hash, status: 'all' }}>
        key {key_hash.slice(0, 6)}
      </Link>
    )
  return (
    <span className="audit-who">
      <span className="cut">{user_id === null ? 'somebody' : <Person id={user_id} />}</span> <span>({by})</span>
    </span>
  )
}
