/** Keeps what somebody wrote and has not saved, by person and place in the dashboard, and restores it when the screen is opened again. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { currentSession } from './api/session.ts'
import { forgetValue, keepValue, readKept } from './kept-values.ts'

/** Works as `useState`. Call `forget` after saving. Each name must be used with one type of value, which JSON can represent. */
export const useKept = <Value>(name: string, first: () => Value): [value: Value, keep: Keep<Value>, forget: () => void] => {
  const place = `${useQuery(currentSession).data?.user_id ?? NOBODY} ${name}`
  const [held, hold] = useState<Held<Value>>(() => ({ place, value: valueAt(place, first) }))
  let current = held
  if (held.place !== place) {
    if (held.place === `${NOBODY} ${name}`) moveKept(held.place, place)
    current = { place, value: valueAt(place, first) }
    hold(current)
  }
  const keep: Keep<Value> = (change) => {
    const next = isFunction(change) ? change(valueAt(place, first)) : change
    keepValue(place, next)
    hold({ place, value: next })
  }
  return [current.value, keep, () => forgetValue(place)]
}

/** A function gets the value as it is by then, which may have been changed while something was awaited. */
type Keep<Value> = (next: Value | ((now: Value) => Value)) => void

const isFunction = <Value>(next: Value | ((now: Value) => Value)): next is (now: Value) => Value => typeof next === 'function'

interface Held<Value> {
  readonly place: string
  readonly value: Value
}

/** Stands for the current person until the service has said who it is. */
const NOBODY = ''

const valueAt = <Value>(place: string, first: () => Value): Value => (readKept(place) as Value | undefined) ?? first()

/** A person may write before the service has said who they are; what they wrote is theirs. */
const moveKept = (from: string, to: string): void => {
  const written = readKept(from)
  if (written === undefined) return
  keepValue(to, written)
  forgetValue(from)
}
