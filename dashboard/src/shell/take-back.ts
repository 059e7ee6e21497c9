/** Undoes a change of a saved object. If somebody has changed the object again since, theirs stays, and a note says so. */
import { isSame } from '../use-edited.ts'
import { toast } from './toasts.tsx'

interface Change<Value> {
  /** Begins the sentence that it was changed again. */
  readonly what: string
  /** The object as the change left it; a value that JSON can represent. */
  readonly left: Value
  readonly read: () => Promise<Value>
  readonly putBack: () => Promise<unknown>
}

/** Resolves to true if it was put back. */
export const takeBack = async <Value>({ what, left, read, putBack }: Change<Value>): Promise<boolean> => {
  const isAsLeft = isSame(await read(), left)
  if (isAsLeft) await putBack()
  else toast(`Nothing was undone: ${what} was changed meanwhile.`)
  return isAsLeft
}
