import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'

import type { Search } from '../search.ts'

const NOTHING: Search = {}

/**
 * The address as this screen has changed it. The router follows a moment later: a field that showed what it has would lose the keys of who
 * types fast, and a run that is started at once would ask what stood there before.
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
