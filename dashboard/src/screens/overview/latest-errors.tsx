import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { newestGenerations } from '../../api/generations.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { When } from '../../parts/when.tsx'
import type { Scope } from './scope.ts'

export const LatestErrors = ({ range: { from, to }, workspace }: Scope) => {
  const errors = useQuery({
    ...newestGenerations({ status: 'error', from, to, workspace_id: workspace }, 6),
    refetchInterval: 10_000,
    placeholderData: (before) => before,
  })
  return (
    <Loaded query={errors} rows={4}>
      {(rows) =>
        rows.length === 0 ? (
          <Empty>Nothing failed in this time.</Empty>
        ) : (
          <ul className="errors">
            {rows.map(({ id, created_at: at, error_type: type, model, error, preset_slug: slug, preset_version: version }) => (
              <li key={id}>
                <Link to="/requests/$id" params={{ id }} title={error?.message}>
                  <span className="faint">
                    <When at={at} exact />
                  </span>
                  <span className="cut">
                    <span className="errors-type">{type}</span> {slug === null ? model : `${slug}@${version}, ${model}`}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}
