/** Keeps the edits of a saved object that are not saved yet. A change of the object by somebody else discards none of them. */
import { useKept } from './kept.ts'

export interface Edited<Form extends object> {
  /** Fields that nobody has touched follow the saved object. */
  readonly value: Form
  readonly isChanged: boolean
  /** The object was saved by somebody else after this person began to write. */
  readonly hasMoved: boolean
  change(fields: Partial<Form>): void
  discard(): void
  /** The form was saved as `sent`: what was written since stays. */
  saved(sent: Form): void
}

interface Written<Form> {
  readonly edits: Partial<Form>
  /** The saved object as it was when the first of the edits was made. */
  readonly begun: Form | null
}

/** `name` is that of `useKept`. `saved` and the edits must be values that JSON can represent. */
export const useEdited = <Form extends object>(name: string, saved: Form): Edited<Form> => {
  const [{ edits, begun }, keep, forget] = useKept<Written<Form>>(name, () => ({ edits: {}, begun: null }))
  const differing = (fields: Partial<Form>, from: Form): Partial<Form> =>
    Object.fromEntries(Object.entries(fields).filter(([field, value]) => !isSame(value, from[field as keyof Form]))) as Partial<Form>
  const write = (written: Partial<Form>, since: Form): void => {
    const isNothing = Object.keys(written).length === 0
    keep({ edits: written, begun: isNothing ? null : since })
    if (isNothing) forget()
  }
  const value = { ...saved, ...edits }
  return {
    value,
    isChanged: Object.keys(differing(edits, saved)).length > 0,
    hasMoved: begun !== null && !isSame(begun, saved) && !isSame(value, saved),
    change: (fields) => write(differing({ ...edits, ...fields }, saved), begun ?? saved),
    discard: () => write({}, saved),
    saved: (sent) => keep((now) => ({ edits: differing(now.edits, sent), begun: null })),
  }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
