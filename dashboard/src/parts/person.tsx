/** A person: who reads this by name, others as the service knows them. An id that a machine made is cut; the whole one is in the tooltip. */
import { useQuery } from '@tanstack/react-query'

import { currentSession } from '../api/session.ts'

const MADE = /^(user_[0-9a-f]{8})-[0-9a-f-]{27}$/

export const Person = ({ id }: { id: string | null | undefined }) => {
  const own = useQuery(currentSession).data
  if (id === null || id === undefined || id === '') return <span className="faint">–</span>
  return <span title={id}>{id === own?.user_id && own.user_name !== null ? own.user_name : shortId(id)}</span>
}

const shortId = (id: string): string => {
  const short = MADE.exec(id)?.[1]
  return short === undefined ? id : `${short}…`
}
