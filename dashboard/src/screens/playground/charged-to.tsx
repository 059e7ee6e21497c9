/** Shows which key a run is charged to: the person's own playground key, which the first run creates. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'

import { playgroundKey } from '../../api/keys.ts'
import { currentSession } from '../../api/session.ts'
import { Money } from '../../parts/amount.tsx'
import { useKeyName } from '../../parts/key-name.tsx'
import { Meter } from '../../parts/meter.tsx'

export const ChargedTo = ({ isRunning }: { isRunning: boolean }) => {
  const session = useQuery(currentSession).data
  const key = useQuery({ ...playgroundKey(session?.user_id ?? '', session?.workspace_id ?? ''), enabled: session !== undefined })
  const name = useKeyName(key.data?.name ?? '')
  const { refetch } = key
  const isKnown = session !== undefined
  useEffect(() => {
    if (!isRunning && isKnown) void refetch()
  }, [isRunning, isKnown, refetch])
  if (key.data === undefined) return <p className="charged-to small" />
  if (key.data === null) return <p className="charged-to small soft">Charged to your own key, which the first run makes.</p>
  const { hash, limit, limit_remaining: left, usage, disabled } = key.data
  const spent = limit === null ? usage : limit - (left ?? 0)
  return (
    <p className="charged-to small soft">
      Charged to{' '}
      <Link to="/keys" search={{ key: hash }}>
        {name}
      </Link>{' '}
      <span className="number">
        <Money of={spent} />
        {limit === null ? (
          ''
        ) : (
          <>
            {' '}
            of <Money of={limit} />
          </>
        )}
      </span>{' '}
      {limit === null ? null : <Meter label={`Spent by ${name}`} used={spent} limit={limit} />}
      {disabled ? ' It is disabled: an admin can enable it.' : null}
    </p>
  )
}
