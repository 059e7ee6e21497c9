import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { AuditEntry } from '../../api/audit.ts'
import { currentSession } from '../../api/session.ts'
import { workspaceList } from '../../api/workspaces.ts'

/** A link to the object, if a screen shows it. */
export const ObjectLink = ({ of: entry }: { of: AuditEntry }) => {
  const session = useQuery(currentSession).data
  const own = session?.workspace_id
  const workspaces = useInfiniteQuery({ ...workspaceList, enabled: session?.is_operator === true && OF_WORKSPACES.has(entry.object_type) })
  const link = LINKS[entry.object_type]
  const name = nameOf(entry) ?? workspaces.data?.find(({ id }) => id === entry.object_id)?.name ?? shortId(entry)
  return link === undefined ? <span>{name}</span> : link(entry, entry.workspace_id === own ? {} : { workspace: entry.workspace_id }, name)
}

/** `there`: the workspace of the object, if it is not the person's own. */
type ToObject = (entry: AuditEntry, there: { readonly workspace?: string }, name: string) => ReactNode

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

/** Kinds whose objects have the id of their workspace. */
const OF_WORKSPACES: ReadonlySet<string> = new Set(['workspace', 'workspace_budget', 'credit'])
