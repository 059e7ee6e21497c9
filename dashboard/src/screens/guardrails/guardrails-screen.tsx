/** Guardrails, with a box to try them before they apply. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { createGuardrail, type Guardrail, guardrailList, oneGuardrail } from '../../api/guardrails.ts'
import { SeenText } from '../../diff/seen-text.tsx'
import { count } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyCurl } from '../../parts/copy-curl.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Field } from '../../parts/field.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { Table } from '../../parts/table.tsx'
import { When } from '../../parts/when.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { GuardrailEditor } from './guardrail-editor.tsx'
import { HitRequests } from './hit-requests.tsx'

export const GuardrailsScreen = () => {
  const search = useSearch({ strict: false })
  const guardrails = useInfiniteQuery(guardrailList(search['workspace']))
  const [isNew, setNew] = useState(false)
  useKeys({ c: () => setNew(true) })
  const wanted = search['guardrail']
  const chosen = guardrails.data?.find(({ id }) => id === wanted)
  return (
    <>
      <ScreenHead title="Guardrails">
        <CopyCurl path="/guardrails" query={{ include: 'hits' }} />
        <Button kind="primary" keys="c" onClick={() => setNew(true)}>
          New guardrail
        </Button>
      </ScreenHead>
      <Panel title="All guardrails" quiet>
        <Loaded query={guardrails} rows={4}>
          {(rows) => (
            <Table
              label="Guardrails"
              rows={rows}
              rowKey={({ id }) => id}
              isSelected={({ id }) => id === chosen?.id}
              empty={
                <Empty
                  action={
                    <Button kind="primary" onClick={() => setNew(true)}>
                      New guardrail
                    </Button>
                  }
                >
                  Nothing is filtered, and every model may be asked. A guardrail changes that for the keys that it is assigned to.
                </Empty>
              }
              columns={[
                { title: 'Name', isHead: true, cell: nameCell },
                { title: 'Filters', isWords: true, cell: filtersOf },
                {
                  title: 'Hits, 24 h',
                  align: 'right',
                  cell: hitsCell,
                },
                {
                  title: 'Budget',
                  cell: ({ limit_usd, reset_interval }) =>
                    limit_usd === null ? (
                      '–'
                    ) : (
                      <>
                        <Money of={limit_usd} /> {reset_interval ?? 'in all'}
                      </>
                    ),
                  wideOnly: true,
                },
                { title: 'Changed', cell: ({ updated_at, created_at }) => <When at={updated_at ?? created_at} />, wideOnly: true },
              ]}
            />
          )}
        </Loaded>
        <ShowMore list={guardrails} shown={guardrails.data?.length ?? 0} />
      </Panel>
      {chosen === undefined ? null : <GuardrailEditor of={chosen} key={chosen.id} />}
      {wanted === undefined || guardrails.data === undefined || chosen !== undefined ? null : <Unlisted id={wanted} />}
      {isNew ? <NewGuardrail onClose={() => setNew(false)} /> : null}
    </>
  )
}

const Unlisted = ({ id }: { id: string }) => (
  <Loaded query={useQuery(oneGuardrail(id))}>{(guardrail) => <GuardrailEditor of={guardrail} key={id} />}</Loaded>
)

const nameCell = ({ id, name }: Guardrail) => (
  <Link to="." search={(before) => ({ ...before, guardrail: id })} resetScroll={false}>
    <SeenText text={name} />
  </Link>
)

const hitsCell = ({ id, hits }: Guardrail) => {
  const all = hits?.reduce((sum, { requests }) => sum + requests, 0) ?? 0
  return (
    <HitRequests guardrail={id} hits={all}>
      {count(all)}
    </HitRequests>
  )
}

const filtersOf = ({ content_filters, content_filter_builtins, moderation }: Guardrail): string =>
  [
    ...(content_filter_builtins ?? []).map(({ slug }) => slug),
    ...(content_filters ?? []).map(({ pattern, label }) => label ?? `/${pattern.slice(0, 24)}/`),
    ...(moderation ?? []).map(({ endpoint }) => endpoint),
  ].join(', ') || '–'

const NewGuardrail = ({ onClose }: { onClose: () => void }) => {
  const { workspace } = useSearch({ strict: false })
  const navigate = useNavigate()
  const [name, setName] = useState('')
  return (
    <Confirm
      title="New guardrail"
      action="Create"
      onClose={onClose}
      onConfirm={async () => {
        const { id } = await createGuardrail(name, workspace)
        await navigate({ to: '.', search: (before) => ({ ...before, guardrail: id }) })
      }}
    >
      <Field label="Name" hint="It does nothing until it has filters and is assigned.">
        <input value={name} onChange={(event) => setName(event.target.value)} required autoFocus maxLength={200} autoComplete="off" />
      </Field>
    </Confirm>
  )
}
