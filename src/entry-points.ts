/** The files that a process or a thread of ours begins with: scripts/bundle.ts makes a bundle of each. */
import { join } from 'node:path'

export const ENTRY_POINTS = ['main'] as const

/** Where its code is: the bundle beside the one that runs, or its source. */
export const entryPoint = (name: (typeof ENTRY_POINTS)[number]): string =>
  typeof BUNDLE_DIRECTORY === 'undefined' ? join(import.meta.dirname, `${name}.ts`) : join(BUNDLE_DIRECTORY, `${name}.js`)

/** In a bundle: its directory, as scripts/bundle.ts says. An `import.meta` there names the place of the source. */
declare const BUNDLE_DIRECTORY: string | undefined
