import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'

import { type Key, type KeyFilter, keyList } from '../api/keys.ts'
import type { Loading } from './loaded.tsx'
import { ShowMore } from './show-more.tsx'
import { useSettled } from './use-settled.ts'

interface KeySearch {
  readonly query: Loading<readonly Key[]>
  /** Shown above the keys; null if all of them are listed. */
  readonly field: ReactNode
  /** Shown below them. */
  readonly more: ReactNode
}

/** The pause in typing before a search is sent. */
const TYPING_MS = 250

/** The active keys to choose from, and a way to those that are not listed at once. */
export const useKeySearch = (filter: KeyFilter): KeySearch => {
  const [text, setText] = useState('')
  const q = useSettled(text.trim(), TYPING_MS)
  const keys = useInfiniteQuery({
    ...keyList({ status: 'active', ...filter, ...(q === '' ? {} : { q }) }),
    placeholderData: keepPreviousData,
  })
  return {
    query: keys,
    field:
      text === '' && !keys.hasNextPage ? null : (
        <input
          type="search"
          aria-label="Find a key"
          placeholder="Name, last four, or person"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      ),
    more: <ShowMore list={keys} shown={keys.data?.length ?? 0} />,
  }
}
