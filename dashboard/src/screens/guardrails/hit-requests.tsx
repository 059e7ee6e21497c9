import { Link } from '@tanstack/react-router'

import { filterText } from '../requests/filter.ts'

/** A link from a number of hits to the requests in which the guardrail matched. */
export const HitRequests = ({ guardrail, hits, children }: { guardrail: string; hits: number; children: string }) =>
  hits === 0 ? (
    children
  ) : (
    <Link to="/requests" search={{ q: filterText({ guardrail }), range: '24h' }} title="The requests that the guardrail hit">
      {children}
    </Link>
  )
