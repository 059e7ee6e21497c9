/** Turns the filter of the address into API parameters: a key and a guardrail become ids, if the filter names them. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'

import { keyList } from '../../api/keys.ts'
import type { Query } from '../../api/path.ts'
import { holderOfPlayground } from '../../parts/key-name.tsx'
import { readFilter, type ReadFilter } from './filter.ts'
import { useGuardrails } from './use-guardrails.ts'

interface RequestFilter extends ReadFilter {
  /** False until its names are resolved. */
  readonly isReady: boolean
}

/** The id of the named object, or why there is none; neither while it is being looked up. */
interface Named {
  readonly name: 'key' | 'guardrail'
  readonly called: string
  readonly id?: string | undefined
  readonly reason?: string | undefined
}

const KEY_ID = /^[0-9a-f]{64}$/
const GUARDRAIL_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const useRequestFilter = (text: string, workspace: string | undefined): RequestFilter => {
  const read = useMemo(() => readFilter(text), [text])
  const key = useKeyCalled(nameIn(read.query['key'], KEY_ID), workspace)
  const guardrail = useGuardrailCalled(nameIn(read.query['guardrail'], GUARDRAIL_ID), workspace)
  return useMemo(() => {
    const named = [key, guardrail].filter((one) => one !== null)
    const faults = named.flatMap(({ name, called, reason }) => (reason === undefined ? [] : [{ word: `${name}:${called}`, reason }]))
    return {
      query: { ...read.query, ...Object.fromEntries(named.map(({ name, id }) => [name, id])), workspace_id: workspace },
      faults: [...read.faults, ...faults],
      isReady: named.every(({ id, reason }) => id !== undefined || reason !== undefined),
    }
  }, [read, key, guardrail, workspace])
}

/** Returns null if the value is an id, or absent. */
const nameIn = (value: Query[string], id: RegExp): string | null => (typeof value === 'string' && !id.test(value) ? value : null)

const useKeyCalled = (called: string | null, workspace: string | undefined): Named | null => {
  const holder = holderOfPlayground(called ?? '')
  const found = useInfiniteQuery({
    ...keyList({ q: holder ?? called ?? '', ...(holder === null ? {} : { purpose: 'playground' }), workspace_id: workspace }),
    enabled: called !== null,
  })
  // The service searches a bounded number of keys for each page, so a page without keys is not the end.
  const isSought = found.hasNextPage && (found.data?.length ?? 0) === 0 && !found.isFetchNextPageError
  const { isFetching, isError, fetchNextPage } = found
  useEffect(() => {
    if (isSought && !isFetching) void fetchNextPage()
  }, [isSought, isFetching, fetchNextPage])
  const keys = isSought ? undefined : found.data
  return useMemo(() => {
    if (called === null) return null
    const named = { name: 'key', called } as const
    if (keys === undefined) return isError ? { ...named, reason: 'the keys could not be read' } : named
    const key = keys.find(({ name, label }) => name === called || label === called) ?? (keys.length === 1 ? keys[0] : undefined)
    if (key !== undefined) return { ...named, id: key.hash }
    return { ...named, reason: keys.length > 1 ? `${keys.length} keys are called so` : 'no key is called so' }
  }, [called, keys, isError])
}

const useGuardrailCalled = (called: string | null, workspace: string | undefined): Named | null => {
  const { rows, isWhole, isRefused } = useGuardrails(workspace, called !== null)
  return useMemo(() => {
    if (called === null) return null
    const named = { name: 'guardrail', called } as const
    const [only, ...others] = rows.filter(({ name }) => name === called)
    if (isRefused) return { ...named, reason: 'the guardrails could not be read' }
    if (!isWhole) return named
    if (only !== undefined && others.length === 0) return { ...named, id: only.id }
    return { ...named, reason: only === undefined ? 'no guardrail is called so' : `${others.length + 1} guardrails are called so` }
  }, [called, rows, isWhole, isRefused])
}
