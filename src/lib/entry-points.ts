/** The files that our processes and threads start from: scripts/bundle.ts makes a bundle of each. */
import { basename, join } from 'node:path'

export const THREADS = ['storage/sqlite/settling-thread.ts', 'storage/sqlite/reading-thread.ts'] as const

/** Paths below `src/`. No two may have the same file name, since all bundles are in one directory. */
export const ENTRY_POINTS = ['main.ts', ...THREADS, 'lib/documents/document-process.ts'] as const

export type EntryPoint = (typeof ENTRY_POINTS)[number]

/** The path of its code: the bundle beside the running one, or the source file. */
export const entryPoint = (file: EntryPoint): string =>
  typeof BUNDLE_DIRECTORY === 'undefined' ? join(import.meta.dirname, '..', file) : join(BUNDLE_DIRECTORY, `${basename(file, '.ts')}.js`)

/** The folder of the package, as it is installed or checked out. */
export const PACKAGE_DIRECTORY =
  typeof BUNDLE_DIRECTORY === 'undefined' ? join(import.meta.dirname, '..', '..') : join(BUNDLE_DIRECTORY, '..')

/** Defined only in a bundle, as its directory (scripts/bundle.ts sets it). An `import.meta` in a bundle names the place of the source. */
declare const BUNDLE_DIRECTORY: string | undefined
