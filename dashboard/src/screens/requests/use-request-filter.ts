/** The filter of the address as the service takes it: a key by its hash, whatever people call it. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'

import type { Query } from '../../api/path.ts'
import { keyList } from '../../api/keys.ts'
import { readFilter, type ReadFilter } from './filter.ts'

interface RequestFilter extends ReadFilter {
  /** False until the key is known. */
  readonly isReady: boolean
}

const HASH = /^[0-9a-f]{64}$/

export const useRequestFilter = (text: string, workspace: string | undefined): RequestFilter => {
  const read = useMemo(() => readFilter(text), [text])
  const called = nameIn(read.query)
  const found = useInfiniteQuery({ ...keyList({ q: called ?? '', workspace_id: workspace }), enabled: called !== null })
  // The service looks through so many keys for a page: one without keys is not the end.
  const isSought = found.hasNextPage && (found.data?.length ?? 0) === 0 && !found.isFetchNextPageError
  const { isFetching, fetchNextPage } = found
  useEffect(() => {
    if (isSought && !isFetching) void fetchNextPage()
  }, [isSought, isFetching, fetchNextPage])
  const keys = isSought ? undefined : found.data
  return useMemo(() => {
    const query = { ...read.query, workspace_id: workspace }
    if (called === null) return { query, faults: read.faults, isReady: true }
    const key = keys?.find(({ name, label }) => name === called || label === called) ?? (keys?.length === 1 ? keys[0] : undefined)
    if (key !== undefined) return { query: { ...query, key: key.hash }, faults: read.faults, isReady: true }
    const { key: _, ...others } = read.query
    const reason = (keys?.length ?? 0) > 1 ? `${keys?.length} keys are called so` : 'no key is called so'
    const faults = keys === undefined ? read.faults : [...read.faults, { word: `key:${called}`, reason }]
    return { query: { ...others, workspace_id: workspace }, faults, isReady: keys !== undefined || found.isError }
  }, [read, called, keys, workspace, found.isError])
}

/** Null where the key is named by its hash, or not at all. */
const nameIn = ({ key }: Query): string | null => (typeof key === 'string' && !HASH.test(key) ? key : null)
