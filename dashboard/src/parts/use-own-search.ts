import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'

import type { Search } from '../search.ts'

const NOTHING: Search = {}

/**
 * The address with this screen's own changes applied at once. The router applies them a moment later: a field that showed the router's
 * address would lose keystrokes of fast typing, and a run that is started at once would send the earlier text.
 */
export const useOwnSearch = (): [search: Search, change: (more: Search) => void] => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const [ahead, setAhead] = useState(NOTHING)
  const hasFollowed = Object.entries(ahead).every(([name, value]) => (search[name] ?? '') === (value ?? ''))
  if (hasFollowed && ahead !== NOTHING) setAhead(NOTHING)
  const change = (more: Search): void => {
    setAhead((before) => ({ ...before, ...more }))
    void navigate({ to: '.', search: (before) => ({ ...before, ...more }), replace: true, resetScroll: false })
  }
  return [useMemo(() => ({ ...search, ...ahead }), [search, ahead]), change]
}
