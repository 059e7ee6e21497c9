/** The files that a process or a thread of ours begins with: scripts/bundle.ts makes a bundle of each. */
import { basename, join } from 'node:path'

export const THREADS = ['storage/settling-thread.ts', 'storage/reading-thread.ts'] as const

/** Below `src/`. No two may have one name, since the bundles are in one directory. */
export const ENTRY_POINTS = ['main.ts', ...THREADS, 'lib/documents/document-process.ts'] as const

export type EntryPoint = (typeof ENTRY_POINTS)[number]

/** Where its code is: the bundle beside the one that runs, or its source. */
export const entryPoint = (file: EntryPoint): string =>
  typeof BUNDLE_DIRECTORY === 'undefined' ? join(import.meta.dirname, '..', file) : join(BUNDLE_DIRECTORY, `${basename(file, '.ts')}.js`)

/** The folder of the package, as it is installed or checked out. */
export const PACKAGE_DIRECTORY =
  typeof BUNDLE_DIRECTORY === 'undefined' ? join(import.meta.dirname, '..', '..') : join(BUNDLE_DIRECTORY, '..')

/** In a bundle: its directory, as scripts/bundle.ts says. An `import.meta` there names the place of the source. */
declare const BUNDLE_DIRECTORY: string | undefined
