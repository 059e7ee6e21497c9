/** For admins of the installation: chooses the workspace whose requests, presets, keys and figures the screens show. */
import { useIsFetching, useQuery } from '@tanstack/react-query'
import { useMatches, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

import { currentSession } from '../api/session.ts'
import { workspaceList } from '../api/workspaces.ts'
import { lastNavigation, rememberNavigation } from '../last-navigation.ts'
import { useWholeList } from '../parts/use-whole-list.ts'

/** These show what belongs to one workspace: that of the person if none is chosen. */
const OF_ONE: ReadonlySet<string | undefined> = new Set([
  '/keys',
  '/presets',
  '/presets/$slug',
  '/guardrails',
  '/playground',
  '/setup',
  '/settings',
])

export const WorkspaceSwitch = () => {
  const session = useQuery(currentSession).data
  const isOperator = session?.is_operator === true
  // The screen's own queries go first.
  const isBusy = useIsFetching() > 0
  const [isTurn, setTurn] = useState(false)
  useEffect(() => {
    if (isOperator && !isBusy) setTurn(true)
  }, [isOperator, isBusy])
  const { rows: workspaces, isWhole } = useWholeList({ ...workspaceList, enabled: isTurn })
  const { workspace = '' } = useSearch({ strict: false })
  const navigate = useNavigate()
  const isOfOne = useMatches({ select: (matches) => OF_ONE.has(matches.at(-1)?.routeId) })
  const isOffered = workspaces.length > 1
  const [before] = useState(lastNavigation)
  useEffect(() => {
    if (isWhole) rememberNavigation(isOffered ? 'operator' : 'admin')
  }, [isWhole, isOffered])
  // Somebody else may have signed in since.
  if (session !== undefined && !isOperator) return null
  if (!isOffered && (isWhole || before !== 'operator')) return null
  // A link may name the workspace by its id.
  const shown = workspaces.find(({ id }) => id === workspace)?.slug ?? workspace
  const own = isOfOne ? workspaces.find(({ id }) => id === session?.workspace_id) : undefined
  const isOwnChosen = own !== undefined && shown === own.slug
  return (
    <select
      className="workspace-switch"
      aria-label="Workspace"
      value={shown}
      onChange={(event) => {
        const chosen = event.target.value === '' ? undefined : event.target.value
        void navigate({ to: '.', search: (before) => ({ ...before, workspace: chosen }) })
      }}
    >
      {isOwnChosen ? null : <option value="">{own?.name ?? 'every workspace'}</option>}
      {isOffered || shown === '' ? null : <option value={shown}>{shown}</option>}
      {workspaces
        .filter(({ id }) => isOwnChosen || id !== own?.id)
        .map(({ id, slug, name }) => (
          <option key={id} value={slug}>
            {name}
          </option>
        ))}
    </select>
  )
}
