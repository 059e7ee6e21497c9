import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { AuditEntry } from '../../api/audit.ts'
import { currentSession } from '../../api/session.ts'
import { workspaceList } from '../../api/workspaces.ts'
import { KeyName } from '../../parts/key-name.tsx'
import { Person } from '../../parts/person.tsx'
import { useWholeList } from '../../parts/use-whole-list.ts'
import { useGuardrails } from '../requests/use-guardrails.ts'

/** A link to the object, if a screen shows it. */
export const ObjectLink = ({ of: entry }: { of: AuditEntry }) => {
  const own = useQuery(currentSession).data?.workspace_id
  const link = LINKS[entry.object_type]
  const name = <ObjectName of={entry} />
  return link === undefined ? name : link(entry, entry.workspace_id === own ? {} : { workspace: entry.workspace_id }, name)
}

/** By the entry itself if it has the name, which then is the one of that time. */
const ObjectName = ({ of: entry }: { of: AuditEntry }) => {
  const { object_type: type, object_id: id, workspace_id: workspace } = entry
  const written = nameOf(entry)
  const ofWorkspace = useNameOfWorkspace(workspace, written === undefined && OF_WORKSPACES.has(type))
  const guardrails = useGuardrails(workspace, written === undefined && type === 'guardrail').rows
  if (type === 'member') return <Person id={id} />
  if (type === 'api_key' && written !== undefined) return <KeyName name={written} />
  const known = written ?? ofWorkspace ?? guardrails.find((one) => one.id === id)?.name
  return <span title={id}>{known === undefined ? shortId(entry) : known + spanOf(entry)}</span>
}

/** Only an operator reads the names of other workspaces. */
const useNameOfWorkspace = (workspace: string, isWanted: boolean): string | undefined => {
  const session = useQuery(currentSession).data
  const isOther = isWanted && session !== undefined && session.workspace.id !== workspace
  const { rows } = useWholeList({ ...workspaceList, enabled: isOther && session.is_operator })
  if (!isWanted) return undefined
  return isOther ? rows.find(({ id }) => id === workspace)?.name : session?.workspace.name
}

/** A workspace has a budget for each span of time, and their ids end with it. */
const spanOf = ({ object_type: type, object_id: id }: AuditEntry): string =>
  type === 'workspace_budget' && id.includes('/') ? `, ${id.slice(id.indexOf('/') + 1)}` : ''

/** `there`: the workspace of the object, if it is not the person's own. */
type ToObject = (entry: AuditEntry, there: { readonly workspace?: string }, name: ReactNode) => ReactNode

const toWorkspace: ToObject = ({ workspace_id }, _there, name) => (
  <Link to="/workspaces" search={{ workspace: workspace_id }}>
    {name}
  </Link>
)

const LINKS: Readonly<Record<string, ToObject>> = {
  preset: (entry, there, name) => (
    <Link to="/presets/$slug" params={{ slug: slugOf(entry) ?? entry.object_id }} search={there}>
      {name}
    </Link>
  ),
  api_key: ({ object_id: id }, there, name) => (
    <Link to="/keys" search={{ ...there, key: id, status: 'all' }}>
      {name}
    </Link>
  ),
  guardrail: ({ object_id: id }, there, name) => (
    <Link to="/guardrails" search={{ ...there, guardrail: id }}>
      {name}
    </Link>
  ),
  generation_content: ({ object_id: id, action }, there, name) =>
    // This entry records that somebody tried a guardrail on stored requests, which reads the contents of many, so there is no one request
    // to link to.
    action === 'screened' ? (
      <span>{name}</span>
    ) : (
      <Link to="/requests/$id" params={{ id }} search={there}>
        {name}
      </Link>
    ),
  provider_key: (_entry, there, name) => (
    <Link to="/models" search={there}>
      {name}
    </Link>
  ),
  session: (_entry, there, name) => (
    <Link to="/settings" search={there}>
      {name}
    </Link>
  ),
  workspace: toWorkspace,
  workspace_budget: toWorkspace,
  credit: toWorkspace,
  member: toWorkspace,
}

const member = (object: AuditEntry['after'], key: string): string | undefined => {
  const value = object?.[key]
  return typeof value === 'string' ? value : undefined
}

const slugOf = ({ before, after }: AuditEntry): string | undefined => member(after, 'slug') ?? member(before, 'slug')

const nameOf = (entry: AuditEntry): string | undefined => {
  const { before, after, object_type: type, object_id: id } = entry
  // A preset is named by its slug, which people wrote.
  return slugOf(entry) ?? member(after, 'name') ?? member(before, 'name') ?? (type === 'preset' ? id : undefined)
}

const shortId = ({ object_id: id }: AuditEntry): string => (id.length > 20 ? `${id.slice(0, 12)}…` : id)

/** Kinds whose objects are named by their workspace. */
const OF_WORKSPACES: ReadonlySet<string> = new Set(['workspace', 'workspace_budget', 'credit'])
