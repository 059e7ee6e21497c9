/**
 * Writers that would wait for one row of the database wait here instead, where a wait takes no connection from others. The
 * first of a line goes to the database; the next one goes when it is back.
 */
import { StorageConflict, StorageUnavailable } from './storage-errors.ts'

export interface Lines {
  /**
   * Runs `work` once everybody is back who came before with this name. Where storage failed the first of the line, after
   * whatever wait it has, it failed all who stood behind it: no one waits for more than one such failure.
   */
  run<T>(name: string, work: () => Promise<T>): Promise<T>
}

interface Waiting {
  readonly go: () => void
  readonly fail: (error: unknown) => void
}

export const createLines = (): Lines => {
  /** Each line has a first, who works; these wait behind it. */
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
