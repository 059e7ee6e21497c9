/** The names of people and workspaces, which the sums have only by their ids. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'

import { currentSession } from '../../api/session.ts'
import { membersOf, workspaceList } from '../../api/workspaces.ts'
import { personOfPlayground, playgroundOf } from '../../parts/key-name.tsx'
import { isId, nameAmong, shortId } from '../../parts/person.tsx'
import { useFurtherPages } from '../../parts/use-further-pages.ts'
import { useWholeList } from '../../parts/use-whole-list.ts'
import type { Dimension, Names } from './spend-series.ts'

/**
 * `wanted`: the dimensions whose values are shown; `keys`: the names of the keys that are shown. People have their names in the workspace
 * that is shown, or in the reader's own.
 */
export const useNames = (wanted: readonly (Dimension | undefined)[], keys: readonly string[], workspace: string | undefined): Names => {
  const reader = useQuery(currentSession).data
  const isAdmin = reader?.role === 'admin'
  const hasPeople = (wanted.includes('user') || keys.some((key) => personOfPlayground(key) !== null)) && isAdmin
  const members = useInfiniteQuery({ ...membersOf(workspace ?? reader?.workspace_id ?? ''), enabled: hasPeople })
  useFurtherPages(members, hasPeople)
  const { rows: workspaces } = useWholeList({ ...workspaceList, enabled: wanted.includes('workspace') && isAdmin })
  const nameOf = (id: string): string | null => {
    if (reader !== undefined && isId(id, reader.user_id)) return reader.user_name
    return nameAmong(members.data ?? [], id)
  }
  return (dimension, value) => {
    if (dimension === 'workspace') return workspaces.find(({ id, slug }) => id === value || slug === value)?.name
    if (dimension === 'user') return nameOf(value) ?? shortId(value)
    const person = dimension === 'key' ? nameOf(personOfPlayground(value) ?? '') : null
    return person === null ? undefined : playgroundOf(person)
  }
}
