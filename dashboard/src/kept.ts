/** Keeps what somebody wrote and has not saved, by the person and the place where it stands: it is there again when its screen is. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { currentSession } from './api/session.ts'
import { forgetValue, keepValue, readKept } from './kept-values.ts'

/** As `useState`. `forget` is called once it is saved. Who takes a name keeps one type of value under it, of what JSON can hold. */
export const useKept = <Value>(name: string, first: () => Value): [value: Value, keep: (value: Value) => void, forget: () => void] => {
  const place = `${useQuery(currentSession).data?.user_id ?? NOBODY} ${name}`
  const [held, hold] = useState<Held<Value>>(() => ({ place, value: valueAt(place, first) }))
  let current = held
  if (held.place !== place) {
    if (held.place === `${NOBODY} ${name}`) moveKept(held.place, place)
    current = { place, value: valueAt(place, first) }
    hold(current)
  }
  const keep = (next: Value): void => {
    keepValue(place, next)
    hold({ place, value: next })
  }
  return [current.value, keep, () => forgetValue(place)]
}

interface Held<Value> {
  readonly place: string
  readonly value: Value
}

/** Stands for a person of whom the service has not said yet who they are. */
const NOBODY = ''

const valueAt = <Value>(place: string, first: () => Value): Value => (readKept(place) as Value | undefined) ?? first()

/** A person may write before it is known who they are: that is theirs. */
const moveKept = (from: string, to: string): void => {
  const written = readKept(from)
  if (written === undefined) return
  keepValue(to, written)
  forgetValue(from)
}
