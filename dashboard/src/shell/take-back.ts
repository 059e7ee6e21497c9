/** Undoes a change of a saved object. If somebody has changed the object again since, theirs stays, and a note says so. */
import { ApiError } from '../api/api-error.ts'
import { toast } from './toasts.tsx'

interface Change<Stored> {
  /** Begins the sentence that it was changed again. */
  readonly what: string
  readonly read: () => Promise<Stored>
  /** The object is as the change left it. */
  readonly isAsLeft: (stored: Stored) => boolean
  /** If it was changed after it was read, the service may refuse this with 412. */
  readonly putBack: (stored: Stored) => Promise<unknown>
}

/** Resolves to true if it was put back. */
export const takeBack = async <Stored>({ what, read, isAsLeft, putBack }: Change<Stored>): Promise<boolean> => {
  const stored = await read()
  const isDone = isAsLeft(stored) && (await putBack(stored).then(() => true, falseIfChanged))
  if (!isDone) toast(`Nothing was undone: ${what} was changed meanwhile.`)
  return isDone
}

const falseIfChanged = (thrown: unknown): false => {
  if (thrown instanceof ApiError && thrown.status === 412) return false
  throw thrown
}
