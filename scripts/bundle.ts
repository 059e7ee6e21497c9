/**
 * Builds `dist/`, which an installed package runs: each entry point with all its imports as one file, and its bytecode. `npm install` runs
 * it (`prepare`). bin/launch.ts uses it as long as `sources.json` says that it was made from the present sources.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

import { digestOf, type Made, MADE_FROM, UNSURE } from '../bin/launch.ts'
import { billOfMaterials, licencesOf } from './bill-of-materials.ts'
import { ENTRY_POINTS } from '../src/lib/entry-points.ts'

const ROOT = join(import.meta.dirname, '..')
/** A file that was changed this recently may change again with the same time and size. */
const SETTLED_MS = 2000

/** The compiler options of each bundle. */
export const COMPILED = {
  target: 'bun',
  // Bytecode requires this format, and readable stack traces require names.
  format: 'cjs',
  bytecode: true,
  minify: { whitespace: true, syntax: true, identifiers: false },
  // pdf.js uses it to find the fonts of its own package, which this service never draws with; this format does not support it.
  define: { 'import.meta.resolve': 'undefined' },
  // Not a `define`, since the bundler replaces `__dirname` in sources with the path of the source.
  banner: 'var BUNDLE_DIRECTORY = __dirname;',
} as const

export const makeBundle = async (directory: string, entryPoints: readonly string[] = ENTRY_POINTS): Promise<void> => {
  const startedMs = Date.now()
  const built = await Bun.build({
    entrypoints: entryPoints.map((file) => resolve(ROOT, 'src', file)),
    outdir: directory,
    naming: '[name].[ext]',
    ...COMPILED,
    metafile: true,
  })
  const paths = [...Object.keys(built.metafile?.inputs ?? {}), 'package-lock.json', relative(ROOT, import.meta.path)]
  const files = paths.map((path): Made['files'][number] => {
    const { size, mtimeMs } = statSync(join(ROOT, path))
    return [path, size, mtimeMs < startedMs - SETTLED_MS ? mtimeMs : UNSURE, digestOf(readFileSync(join(ROOT, path)))]
  })
  const made: Made = { bun: Bun.version, files }
  writeFileSync(join(directory, MADE_FROM), JSON.stringify(made))
  writeFileSync(join(directory, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(ROOT, paths), null, 2)}\n`)
  writeFileSync(join(directory, 'LICENSES.txt'), licencesOf(ROOT, paths))
}

/** The folder is replaced by renaming, since a service may be starting meanwhile. */
const replace = (directory: string, made: string): void => {
  const old = `${directory}.old`
  rmSync(old, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  renameSync(directory, old)
  renameSync(made, directory)
  rmSync(old, { recursive: true, force: true })
}

if (import.meta.main) {
  const directory = join(ROOT, 'dist')
  const made = `${directory}.${process.pid}`
  await makeBundle(made)
  replace(directory, made)
}
