/**
 * Keeps what somebody wrote and has not saved, by the person and the place where it stands: it is there again when its screen is, until the
 * page is loaded anew.
 */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { currentSession } from './api/session.ts'

const kept = new Map<string, unknown>()

/** As `useState`. `forget` is called once it is saved. Who takes a name keeps one type of value under it. */
export const useKept = <Value>(name: string, first: () => Value): [value: Value, keep: (value: Value) => void, forget: () => void] => {
  const place = `${useQuery(currentSession).data?.user_id ?? ''} ${name}`
  const [value, setValue] = useState<Value>(() => (kept.has(place) ? (kept.get(place) as Value) : first()))
  const keep = (next: Value): void => {
    kept.set(place, next)
    setValue(next)
  }
  return [value, keep, () => void kept.delete(place)]
}
