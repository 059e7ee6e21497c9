/**
 * Makes `dist/`, what an installed package runs: each entry point with all it imports as one file, and its bytecode. `npm install`
 * does it (`prepare`). bin/launch.ts runs it as long as `sources.json` says that it was made from the sources that are there.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

import { digestOf, type Made, MADE_FROM, UNSURE } from '../bin/launch.ts'
import { billOfMaterials, licencesOf } from './bill-of-materials.ts'
import { ENTRY_POINTS } from '../src/lib/entry-points.ts'

const ROOT = join(import.meta.dirname, '..')
/** A file that was changed so shortly before may be changed again without another time or size. */
const SETTLED_MS = 2000

/** How each bundle is made. */
export const COMPILED = {
  target: 'bun',
  // Bytecode needs this format, and names in stack traces need theirs.
  format: 'cjs',
  bytecode: true,
  minify: { whitespace: true, syntax: true, identifiers: false },
  // pdf.js asks where fonts of its own package are, which this service never draws with; this format has no word for the question.
  define: { 'import.meta.resolve': 'undefined' },
  // Not a `define`: the bundler replaces a `__dirname` that it reads by the place of the source.
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

/** In its place at once: a service may be starting meanwhile. */
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
