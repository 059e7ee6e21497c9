/** A person, by the name in the reader's workspace. Without a name, a machine-made id is shortened; its tooltip has the whole id. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'

import { currentSession } from '../api/session.ts'
import { type Member, membersOf } from '../api/workspaces.ts'
import { useFurtherPages } from './use-further-pages.ts'

const MADE = /^(user_[0-9a-f]{8})-[0-9a-f-]{27}$/

export const Person = ({ id }: { id: string | null | undefined }) => {
  const name = useNameOf(id ?? '')
  if (id === null || id === undefined || id === '') return <span className="faint">–</span>
  return <span title={id}>{name ?? shortId(id)}</span>
}

/** The name or the address of a person; `id` may be shortened. Only an admin may read those of others. */
export const useNameOf = (id: string): string | null => {
  const reader = useQuery(currentSession).data
  const isOther = id !== '' && reader !== undefined && !isId(id, reader.user_id)
  const members = useInfiniteQuery({ ...membersOf(reader?.workspace_id ?? ''), enabled: isOther && reader.role === 'admin' })
  const member = members.data?.find(({ user_id: other }) => isId(id, other))
  useFurtherPages(members, isOther && member === undefined)
  if (id === '') return null
  return isOther ? nameAmong(members.data ?? [], id) : (reader?.user_name ?? null)
}

/** The name or the address of a member, both if another member has that name; `id` may be shortened. */
export const nameAmong = (members: readonly Member[], id: string): string | null => {
  const member = members.find(({ user_id: whole }) => isId(id, whole))
  if (member === undefined || member.name === null) return member?.email ?? null
  const isShared = members.some((other) => other !== member && other.name === member.name)
  return isShared ? `${member.name}, ${member.email ?? shortId(member.user_id)}` : member.name
}

/** `id` may be shortened. */
export const isId = (id: string, whole: string | null): boolean => whole !== null && (id === whole || id === MADE.exec(whole)?.[1])

/** A name that somebody gave stays whole. */
export const shortId = (id: string): string => {
  const short = MADE.exec(id)?.[1]
  return short === undefined ? id : `${short}…`
}
