/** The list of keys: their owners, limits and last use. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { type Key, keyList, KEYS_MS } from '../../api/keys.ts'
import { currentSession } from '../../api/session.ts'
import { count } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
import { Person } from '../../parts/person.tsx'
import { Button } from '../../parts/button.tsx'
import { ClearFilter } from '../../parts/clear-filter.tsx'
import { CopyCurl } from '../../parts/copy-curl.tsx'
import { Empty } from '../../parts/empty.tsx'
import { KeyName, useKeyName } from '../../parts/key-name.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Meter } from '../../parts/meter.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { Table } from '../../parts/table.tsx'
import { When } from '../../parts/when.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { KeyDetail } from './key-detail.tsx'
import { KeyState } from './key-state.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { type GuardrailsOfKeys, useGuardrailsOfKeys } from './use-guardrails-of-keys.ts'

const STATES = ['active', 'disabled', 'expired', 'all'] as const

export const KeysScreen = () => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const [isNew, setNew] = useState(search['new'] !== undefined)
  const filter = { q: search['q'], status: search['status'] ?? 'active', workspace_id: search['workspace'] }
  const keys = useInfiniteQuery({
    ...keyList({ ...filter, status: filter.status === 'all' ? undefined : filter.status }),
    // Each further page would be one more request.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? KEYS_MS : false),
  })
  const isFiltered = filter.q !== undefined || search['status'] !== undefined
  const guardrails = useGuardrailsOfKeys(search['workspace'])
  // Members read their own keys; only admins make and change them.
  const session = useQuery(currentSession)
  const isMember = session.data?.role === 'member'
  useKeys(isMember ? {} : { c: () => setNew(true) })
  const chosen = search['key']
  return (
    <>
      <ScreenHead title="Keys">
        <CopyCurl path="/keys" query={filter.status === 'all' ? { ...filter, status: undefined } : filter} />
        {isMember ? null : (
          <Button kind="primary" onClick={() => setNew(true)} keys="c">
            New key
          </Button>
        )}
      </ScreenHead>
      <div className="filters">
        <SearchField label="Find a key" placeholder="Name, last four, person" />
        <select
          aria-label="State"
          value={filter.status}
          onChange={(event) => {
            const status = event.target.value
            void navigate({ to: '.', search: (before) => ({ ...before, status: status === 'active' ? undefined : status }) })
          }}
        >
          {STATES.map((state) => (
            <option key={state} value={state}>
              {state === 'all' ? 'every state' : state}
            </option>
          ))}
        </select>
      </div>
      <div className={chosen === undefined ? 'split' : 'split open'}>
        <Panel title="All keys" quiet>
          {/* Who reads decides about the columns, so the rows come with it. */}
          <Loaded query={{ ...keys, data: session.isPending ? undefined : keys.data }} rows={8}>
            {(found) => (
              <Table
                label="Keys"
                rows={found}
                rowKey={({ hash }) => hash}
                isSelected={({ hash }) => hash === chosen}
                empty={
                  keys.hasNextPage ? null : (
                    <Empty
                      action={
                        isFiltered ? (
                          <ClearFilter parameters={['q', 'status']} />
                        ) : isMember ? undefined : (
                          <Button kind="primary" onClick={() => setNew(true)}>
                            New key
                          </Button>
                        )
                      }
                    >
                      {isFiltered
                        ? `No ${filter.status === 'all' ? '' : `${filter.status} `}key ${filter.q === undefined ? 'is here' : 'has this name, ending or person'}.`
                        : `Programs call models with a key. ${isMember ? 'An admin of the workspace makes yours.' : 'None is active.'}`}
                    </Empty>
                  )
                }
                columns={[
                  { title: 'Name', isHead: true, cell: nameCell },
                  { title: 'Ends with', cell: ({ label }) => <code className="faint">…{label.slice(-4)}</code>, wideOnly: true },
                  { title: 'Person', cell: ({ creator_user_id }) => <Person id={creator_user_id} />, isWords: true, wideOnly: true },
                  { title: 'State', cell: (key) => <KeyState of={key} /> },
                  { title: 'Spent', align: 'right', cell: (key) => <Spent by={key} /> },
                  { title: 'Rate limit', align: 'right', cell: rateCell, wideOnly: true },
                  ...(guardrails.isAllowed
                    ? [{ title: 'Guardrails', cell: (key: Key) => <Guardrails of={guardrails.of(key)} />, wideOnly: true }]
                    : []),
                  { title: 'Last used', cell: ({ last_used_at }) => <When at={last_used_at} />, wideOnly: true },
                ]}
              />
            )}
          </Loaded>
          <ShowMore list={keys} shown={keys.data?.length ?? 0} />
        </Panel>
        {chosen === undefined ? null : <KeyDetail hash={chosen} key={chosen} />}
      </div>
      {isNew && !isMember ? (
        <NewKeyDialog
          onClose={() => {
            setNew(false)
            if (search['new'] !== undefined) void navigate({ to: '.', search: (before) => ({ ...before, new: undefined }), replace: true })
          }}
        />
      ) : null}
    </>
  )
}

const nameCell = ({ hash, name, kind }: Key) => (
  <>
    <Link to="." search={(before) => ({ ...before, key: hash })} resetScroll={false}>
      {name === '' ? 'unnamed' : <KeyName name={name} />}
    </Link>
    {kind === 'management' ? <span className="tag">management</span> : null}
  </>
)

/** A key without a limit of its own has the one of the configuration file. */
const rateCell = ({ rpm_limit: limit }: Key) => (limit === null ? <span className="faint">–</span> : `rpm ${count(limit)}`)

const Guardrails = ({ of: guardrails }: { of: ReturnType<GuardrailsOfKeys['of']> }) => {
  if (guardrails === 'loading') return <span className="unknown-names" />
  if (guardrails === 'failed') return <span className="faint">not loaded</span>
  if (guardrails.length === 0) return <span className="faint">–</span>
  return (
    <span className="row">
      {guardrails.map(({ id, name }) => (
        <Link key={id} to="/guardrails" search={{ guardrail: id }}>
          {name}
        </Link>
      ))}
    </span>
  )
}

const Spent = ({ by: { name, usage, limit, limit_remaining } }: { by: Key }) => {
  const shown = useKeyName(name)
  if (limit === null) return <Money of={usage} />
  const used = limit - (limit_remaining ?? 0)
  return (
    <span className="row end">
      {/* Together, so that a shortened amount does not go to the next line alone. */}
      <span>
        <Money of={used} /> of <Money of={limit} />
      </span>
      <Meter label={`Spent by ${shown}`} used={used} limit={limit} />
    </span>
  )
}
