/** Keeps the edits of a saved object that are not saved yet. A change of the object by somebody else discards none of them. */
import { type RefObject, useEffect, useRef, useState } from 'react'

import { useKept } from './kept.ts'

export interface Edited<Form extends object> {
  /** Fields that nobody has touched follow the saved object. */
  readonly value: Form
  /** The fields that this person has changed, which alone are to be saved. */
  readonly edits: Partial<Form>
  /** The saved object as it was when the first of the edits was made. */
  readonly begun: Form
  readonly isChanged: boolean
  /** The object was saved by somebody else after this person began to write. */
  readonly hasMoved: boolean
  /** Somebody else changed a field that this person has changed too. */
  readonly isAgainstTheirs: boolean
  /** In what was just read from the service, somebody else has changed a field of the edits, and the page has not shown it yet. */
  isOvertakenBy(stored: Form): boolean
  change(fields: Partial<Form>): void
  discard(): void
  /** Calls the function at the next change or save, or once the form has gone: edits from before would then replace newer ones. */
  whenOver(end: () => void): void
  /** The form was saved as `sent`, and the service has it as `stored`: what was written since stays. */
  saved(sent: Form, stored: Form): void
}

interface Written<Form> {
  readonly edits: Partial<Form>
  /** The saved object as it was when the first of the edits was made. */
  readonly begun: Form | null
}

/** The edits end with the screen, so that none is forgotten and saved later with others. */
export const useEdited = <Form extends object>(saved: Form): Edited<Form> => editedIn(useState(untouched<Form>), useOver(), saved)

/** As `useEdited`, but keeps the edits under the name, as `useKept` does. `saved` and they must be values that JSON can represent. */
export const useKeptEdits = <Form extends object>(name: string, saved: Form): Edited<Form> => {
  const [written, keep] = useKept(`edits of ${name}`, untouched<Form>)
  return editedIn([written, keep], useOver(), saved)
}

const useOver = (): RefObject<() => void> => {
  const over = useRef(nothing)
  useEffect(() => () => over.current(), [])
  return over
}

const nothing = (): void => undefined

type Keep<Form> = (next: Written<Form> | ((now: Written<Form>) => Written<Form>)) => void

const editedIn = <Form extends object>(
  [{ edits, begun }, hold]: readonly [written: Written<Form>, hold: Keep<Form>],
  over: RefObject<() => void>,
  saved: Form,
): Edited<Form> => {
  const keep: Keep<Form> = (next) => {
    over.current()
    over.current = nothing
    hold(next)
  }
  const value = { ...saved, ...edits }
  const unsaved = differing(edits, saved)
  const touched = fieldsOf(unsaved)
  return {
    value,
    edits: unsaved,
    begun: begun ?? saved,
    isChanged: touched.length > 0,
    hasMoved: begun !== null && touched.length > 0 && !isSame(begun, saved),
    isAgainstTheirs: begun !== null && touched.some((field) => !isSame(begun[field], saved[field])),
    isOvertakenBy: (stored) => touched.some((field) => !isSame(stored[field], saved[field])),
    change: (fields) => keep(written(differing({ ...edits, ...fields }, saved), begun ?? saved)),
    discard: () => keep(untouched),
    whenOver: (end) => void (over.current = end),
    saved: (sent, stored) => keep((now) => written(differing(now.edits, sent), stored)),
  }
}

const untouched = <Form>(): Written<Form> => ({ edits: {}, begun: null })

const written = <Form extends object>(edits: Partial<Form>, begun: Form): Written<Form> =>
  fieldsOf(edits).length === 0 ? untouched() : { edits, begun }

const fieldsOf = <Form extends object>(edits: Partial<Form>): readonly (keyof Form)[] => Object.keys(edits) as (keyof Form)[]

const differing = <Form extends object>(fields: Partial<Form>, from: Form): Partial<Form> =>
  Object.fromEntries(Object.entries(fields).filter(([field, value]) => !isSame(value, from[field as keyof Form]))) as Partial<Form>

/** For values that JSON can represent. */
export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
