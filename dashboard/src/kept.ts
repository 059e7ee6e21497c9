/** Keeps what somebody wrote and has not saved, by the place where it stands: it is there again when its screen is, until the page is loaded anew. */
import { useState } from 'react'

const kept = new Map<string, unknown>()

/** As `useState`. `forget` is called once it is saved. Who takes a name keeps one type of value under it. */
export const useKept = <Value>(name: string, first: () => Value): [value: Value, keep: (value: Value) => void, forget: () => void] => {
  const [value, setValue] = useState<Value>(() => (kept.has(name) ? (kept.get(name) as Value) : first()))
  const keep = (next: Value): void => {
    kept.set(name, next)
    setValue(next)
  }
  return [value, keep, () => void kept.delete(name)]
}

/** The next person on this page finds nothing. */
export const forgetAll = (): void => kept.clear()
