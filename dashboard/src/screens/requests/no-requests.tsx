/** Says why the list is empty, and what shows more: other words, another time, or a first client. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'

import { newestGenerations } from '../../api/generations.ts'
import { Button } from '../../parts/button.tsx'
import { ClearFilter } from '../../parts/clear-filter.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { useNow, When } from '../../parts/when.tsx'
import { rangeAround } from '../../range.ts'

export const NoRequests = ({ isFiltered, workspace }: { isFiltered: boolean; workspace: string | undefined }) => {
  const newest = useQuery({ ...newestGenerations({ workspace_id: workspace }, 1), staleTime: 0 })
  return isFiltered ? (
    <Empty
      action={
        <span className="row">
          <ClearFilter parameters={['q']} />
          <ToNewest at={newest.data?.[0]?.created_at} />
        </span>
      }
    >
      No request in this time fits the filter. What the service refused itself, such as for a limit that was used up, is not listed; its
      answer says why.
    </Empty>
  ) : (
    <Loaded query={newest} rows={3}>
      {([last]) => (last === undefined ? <NeverAny /> : <OtherTime newestAt={last.created_at} />)}
    </Loaded>
  )
}

const OtherTime = ({ newestAt }: { newestAt: string }) => (
  <Empty action={<ToNewest at={newestAt} />}>
    No requests in this time. The newest is of <When at={newestAt} exact />.
  </Empty>
)

/** Shows the shortest usual time that has the newest request. */
const ToNewest = ({ at }: { at: string | undefined }) => {
  const navigate = useNavigate()
  const now = useNow()
  if (at === undefined) return null
  return (
    <Button onClick={() => void navigate({ to: '.', search: (search) => ({ ...search, ...rangeAround(at, now) }) })}>
      Show the time of the newest request
    </Button>
  )
}

const NeverAny = () => {
  const navigate = useNavigate()
  return (
    <Empty
      action={
        <Button kind="primary" onClick={() => void navigate({ to: '/setup' })}>
          Connect a client
        </Button>
      }
    >
      No requests in this time. Each request to a model appears here as soon as it has ended.
    </Empty>
  )
}
