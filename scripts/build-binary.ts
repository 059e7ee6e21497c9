/** `npm run build:binary [-- path]`: the service with its runtime as one file, by default `dist/patchbay` (decisions/0063). */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { THREADS } from '../src/lib/entry-points.ts'
import { COMPILED } from './bundle.ts'

const ROOT = join(import.meta.dirname, '..')
const DASHBOARD = 'dashboard/dist'

export const buildBinary = async (outfile: string): Promise<void> => {
  if (!existsSync(join(ROOT, DASHBOARD))) throw new Error(`There is no ${DASHBOARD}: run "npm install" first.`)
  const staged = mkdtempSync(join(tmpdir(), 'patchbay-assets-'))
  try {
    // The asset option includes a folder under its last name, with all its contents.
    cpSync(join(ROOT, DASHBOARD), join(staged, DASHBOARD), { recursive: true })
    await Bun.build({
      ...COMPILED,
      // Threads start from bundles of their own; processes start from the executable.
      entrypoints: [join(ROOT, 'bin/executable.ts'), ...THREADS.map((file) => join(ROOT, 'src', file))],
      // As in the package, whose root folder is also the root inside the file.
      naming: 'dist/[name].[ext]',
      banner: `var BUNDLE_DIRECTORY = '/$bunfs/root/dist';`,
      // Files in the directory where it is started must not affect it.
      compile: { outfile, assets: [join(staged, 'dashboard')], autoloadDotenv: false, autoloadBunfig: false },
    })
  } finally {
    rmSync(staged, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const outfile = resolve(process.argv[2] ?? join(ROOT, 'dist/patchbay'))
  await buildBinary(outfile)
  console.log(outfile)
}
