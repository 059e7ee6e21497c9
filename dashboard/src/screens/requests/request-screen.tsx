/** One request: its cause first, then what happened when, then everything that is known. */
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

import { ApiError } from '../../api/api-error.ts'
import { generation, type Generation } from '../../api/generations.ts'
import { Copy } from '../../parts/copy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { KeyName } from '../../parts/key-name.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { FaultBoundary } from '../../parts/panel.tsx'
import { tabNamed, Tabs } from '../../parts/tabs.tsx'
import { When } from '../../parts/when.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { Cause } from './cause.tsx'
import { Contents } from './contents.tsx'
import { CostLines } from './cost-lines.tsx'
import { Facts } from './facts.tsx'
import { isClientRequest, ofClientRequest } from './read-request.ts'
import { RequestActions } from './request-actions.tsx'
import { RequestStatus } from './request-status.tsx'
import { SentUpstream } from './sent-upstream.tsx'
import { Timeline } from './timeline.tsx'

const TABS = [
  { id: 'overview', title: 'Overview' },
  { id: 'request', title: 'Request' },
  { id: 'answer', title: 'Answer' },
  { id: 'upstream', title: 'Sent upstream' },
  { id: 'cost', title: 'Usage and cost' },
  { id: 'raw', title: 'Raw' },
] as const

export const RequestScreen = () => {
  const { id = '' } = useParams({ strict: false })
  return isClientRequest(id) ? <RequestOfClient requestId={id} /> : <RecordedRequest id={id} />
}

/** Finds a request by the id that the client got, and opens the record made for it. */
const RequestOfClient = ({ requestId }: { requestId: string }) => {
  const found = useQuery(ofClientRequest(requestId))
  return (
    <section className="request" aria-label="Request">
      <Loaded query={found} rows={10}>
        {([record]) =>
          record === undefined ? (
            <NoSuchRequest id={requestId} />
          ) : (
            <Navigate to="/requests/$id" params={{ id: record.id }} search={(search) => search} replace />
          )
        }
      </Loaded>
    </section>
  )
}

const NoSuchRequest = ({ id }: { id: string }) => (
  <Empty>
    There is no request with this id here: {id}. It may belong to another workspace, be older than records are kept, or have been refused
    before it was a request to a model: such as for a wrong key, a misspelt model or a limit that was used up. Its answer then says why.
  </Empty>
)

const RecordedRequest = ({ id }: { id: string }) => {
  const navigate = useNavigate()
  const record = useQuery(generation(id))
  const close = (): void => {
    document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"] a`)?.focus()
    void navigate({ to: '/requests', search: (search) => ({ ...search, tab: undefined }) })
  }
  useKeys({ Escape: close })
  return (
    <section className="request" aria-label="Request">
      <Link
        to="/requests"
        search={(search) => ({ ...search, tab: undefined })}
        className="button quiet request-close"
        aria-label="Close the request"
      >
        ×
      </Link>
      {record.error instanceof ApiError && record.error.status === 404 && record.error.requestId !== null ? (
        <NoSuchRequest id={id} />
      ) : (
        <Loaded query={record} rows={10}>
          {(found) => <RequestDetail record={found} />}
        </Loaded>
      )}
    </section>
  )
}

const RequestDetail = ({ record }: { record: Generation }) => {
  const tab = tabNamed(TABS, useSearch({ strict: false })['tab'])
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [record.id])
  return (
    <>
      <title>{`${record.id} · Patchbay`}</title>
      <header className="request-head">
        <h1 ref={title} tabIndex={-1} className="cut">
          <span className="hidden-text">Request </span>
          <span className="mono">{record.id}</span>
        </h1>
        <p className="row soft">
          <RequestStatus {...record} />
          <When at={record.created_at} exact />
          <span>{record.model}</span>
          {record.preset_slug === null ? null : (
            <Link to="/presets/$slug" params={{ slug: record.preset_slug }}>
              {record.preset_slug}@{record.preset_version}
            </Link>
          )}
          {record.api_key_name === null ? null : (
            <Link to="/keys" search={{ key: record.api_key_hash }}>
              <KeyName name={record.api_key_name} />
            </Link>
          )}
          <Copy text={record.id}>Copy id</Copy>
        </p>
        <RequestActions record={record} />
      </header>
      <Cause record={record} />
      <Timeline record={record} />
      <Tabs label="Parts of the request" tabs={TABS} current={tab} />
      <FaultBoundary key={tab}>
        {tab === 'overview' ? <Facts record={record} /> : null}
        {tab === 'request' || tab === 'answer' ? <Contents id={record.id} side={tab} interface={record.interface} /> : null}
        {tab === 'upstream' ? <SentUpstream record={record} /> : null}
        {tab === 'cost' ? <CostLines record={record} /> : null}
        {tab === 'raw' ? <pre className="code-block">{JSON.stringify(record, null, 2)}</pre> : null}
      </FaultBoundary>
    </>
  )
}
