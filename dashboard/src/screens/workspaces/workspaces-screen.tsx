/** Workspaces and the people in them. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { currentSession } from '../../api/session.ts'
import { createWorkspace, type ListedWorkspace, workspaceFigures } from '../../api/workspaces.ts'
import { SeenText } from '../../diff/seen-text.tsx'
import { count } from '../../format.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyCurl } from '../../parts/copy-curl.tsx'
import { Field } from '../../parts/field.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { Table } from '../../parts/table.tsx'
import { When } from '../../parts/when.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { WorkspaceDetail } from './workspace-detail.tsx'
import { BudgetsOf, CreditOf, KeysOf, MonthSpend } from './workspace-figures.tsx'

export const WorkspacesScreen = () => {
  const search = useSearch({ strict: false })
  const workspaces = useInfiniteQuery(workspaceFigures)
  const session = useQuery(currentSession)
  const [isNew, setNew] = useState(false)
  useKeys({ c: () => setNew(true) })
  const chosen = search['workspace'] ?? session.data?.workspace_id
  return (
    <>
      <ScreenHead title="Workspaces">
        <CopyCurl path="/workspaces" query={{ include: 'figures' }} />
        <Button kind="primary" keys="c" onClick={() => setNew(true)}>
          New workspace
        </Button>
      </ScreenHead>
      <Panel title="All workspaces" quiet>
        <Loaded query={workspaces} rows={3}>
          {(rows) => (
            <Table
              label="Workspaces"
              rows={rows}
              rowKey={({ id }) => id}
              isSelected={({ id, slug }) => id === chosen || slug === chosen}
              columns={[
                { title: 'Name', isHead: true, cell: nameCell },
                { title: 'Slug', cell: ({ slug }) => <code>{slug}</code>, isWords: true, wideOnly: true },
                { title: 'Members', align: 'right', cell: ({ figures }) => (figures === undefined ? '–' : count(figures.members)) },
                { title: 'Keys', align: 'right', cell: (workspace) => <KeysOf of={workspace} />, wideOnly: true },
                { title: 'Spend this month', align: 'right', cell: (workspace) => <MonthSpend of={workspace} /> },
                { title: 'Budget', align: 'right', cell: (workspace) => <BudgetsOf of={workspace} />, wideOnly: true },
                { title: 'Credit', align: 'right', cell: (workspace) => <CreditOf of={workspace} />, wideOnly: true },
                {
                  title: 'Contents of requests',
                  cell: ({ is_observability_io_logging_enabled: on }) => (on ? 'kept' : 'not kept'),
                  wideOnly: true,
                },
                { title: 'Made', cell: ({ created_at }) => <When at={created_at} />, wideOnly: true },
              ]}
            />
          )}
        </Loaded>
        <ShowMore list={workspaces} shown={workspaces.data?.length ?? 0} />
      </Panel>
      {/* It asks for its parts meanwhile, and appears once nothing above it grows any more. */}
      {chosen === undefined ? null : (
        <div hidden={workspaces.isPending}>
          <WorkspaceDetail id={chosen} key={chosen} />
        </div>
      )}
      {isNew ? <NewWorkspace onClose={() => setNew(false)} /> : null}
    </>
  )
}

const nameCell = ({ slug, name }: ListedWorkspace) => (
  <Link to="." search={(before) => ({ ...before, workspace: slug })} resetScroll={false}>
    <SeenText text={name} />
  </Link>
)

const NewWorkspace = ({ onClose }: { onClose: () => void }) => {
  const [name, setName] = useState('')
  const [slug, setSlug] = useState<string | null>(null)
  const suggested = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  return (
    <Confirm title="New workspace" action="Create" onConfirm={() => createWorkspace({ name, slug: slug ?? suggested })} onClose={onClose}>
      <p className="soft">A workspace has its own keys, presets, members, budgets and credit.</p>
      <Field label="Name">
        <input value={name} onChange={(event) => setName(event.target.value)} required autoFocus maxLength={100} autoComplete="off" />
      </Field>
      <Field label="Slug" hint="Lower-case letters, digits and single hyphens.">
        <input value={slug ?? suggested} onChange={(event) => setSlug(event.target.value)} required maxLength={50} autoComplete="off" />
      </Field>
    </Confirm>
  )
}
