import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

/** The system error because of which this process cannot open so many files more at once; null if it can. */
export const lackOfFiles = (count: number): NodeJS.ErrnoException | null => {
  const opened: number[] = []
  try {
    while (opened.length < count) opened.push(openSync(devNull, 'r'))
    return null
  } catch (thrown) {
    return thrown as NodeJS.ErrnoException
  } finally {
    for (const file of opened) closeSync(file)
  }
}
