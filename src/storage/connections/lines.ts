/**
 * Writers that would wait for the same row of the database queue here instead, where waiting does not occupy a connection. The first of
 * a queue goes to the database; the next one goes when it is back.
 */
import { StorageConflict, StorageUnavailable } from '../storage-errors.ts'

export interface Lines {
  /**
   * Runs `work` after all earlier work with this name. If storage failed for the first in the queue, after its own retries, it fails for
   * all that wait after it: no one waits for more than one such failure.
   */
  run<T>(name: string, work: () => Promise<T>): Promise<T>
}

interface Waiting {
  readonly go: () => void
  readonly fail: (error: unknown) => void
}

export const createLines = (): Lines => {
  /** The first of each queue is working; these wait for it. */
  const lines = new Map<string, Waiting[]>()

  return {
    async run(name, work) {
      const line = lines.get(name) ?? []
      if (lines.has(name)) await new Promise<void>((go, fail) => line.push({ go, fail }))
      else lines.set(name, line)
      try {
        return await work()
      } catch (error) {
        if (error instanceof StorageConflict || error instanceof StorageUnavailable) for (const { fail } of line.splice(0)) fail(error)
        throw error
      } finally {
        const next = line.shift()
        if (next === undefined) lines.delete(name)
        else next.go()
      }
    },
  }
}
