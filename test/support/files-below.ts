import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The contents of every file below a directory. */
export const filesBelow = (directory: string): readonly Buffer[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name)))
