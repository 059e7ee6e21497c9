/** Runs the bundle if it was made from the present sources; otherwise runs the sources. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The sources of a bundle, and the Bun version that compiled it. */
export interface Made {
  readonly bun: string
  /** The path below the package, the size, the time of the last change, and the digest of the content. */
  readonly files: readonly (readonly [path: string, size: number, mtimeMs: number, digest: string])[]
}

/** The name of this file in the folder of the bundle. */
export const MADE_FROM = 'sources.json'

/** In place of a time, it means that only the digest is compared. */
export const UNSURE = -1

export const digestOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('base64url')

/** The command that runs the package at `root`. */
export const programOf = (root: string): string => {
  const [bundle, source] = [join(root, 'dist/main.js'), join(root, 'src/main.ts')]
  return isFresh(root) || !existsSync(source) ? bundle : source
}

const isFresh = (root: string): boolean => {
  const made = madeFrom(join(root, 'dist', MADE_FROM))
  return made !== null && made.bun === process.versions.bun && made.files.every((file) => isSame(root, file))
}

const madeFrom = (path: string): Made | null => (existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Made) : null)

/** A copy of the package has other file times, so it is compared by content. */
const isSame = (root: string, [path, size, mtimeMs, digest]: Made['files'][number]): boolean => {
  const file = join(root, path)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined || found.size !== size) return false
  return found.mtimeMs === mtimeMs || digestOf(readFileSync(file)) === digest
}

if (import.meta.main) await import(programOf(join(import.meta.dirname, '..')))
