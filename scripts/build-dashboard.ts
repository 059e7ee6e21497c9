/**
 * Builds `dashboard/dist/`, which `/dashboard` serves: the page, and its scripts and styles under hashed names, each with its compressed
 * forms. `npm install` runs it (`prepare`). Fails if the first load is larger than its budget.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

import type { DashboardManifest } from '../src/http/dashboard/manifest.ts'
import { licencesOf } from './dashboard-licences.ts'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'dashboard')

const KB = 1024
/**
 * The size limit of everything that a browser loads before the first screen is complete: the page, its style sheet, and every script that
 * it names, compressed.
 */
const FIRST_LOAD_MAX = 200 * KB
const CHUNK_MAX = 120 * KB
const STYLE_MAX = 15 * KB

const FONT = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}
/** Fonts are already compressed, so they are not in this list. */
const COMPRESSED = new Set(['.js', '.css', '.svg', '.txt'])

export interface BuiltDashboard {
  readonly firstLoadBytes: number
  readonly files: number
}

/** Throws Error if bundling fails or a size limit is exceeded. */
export const buildDashboard = async (directory: string): Promise<BuiltDashboard> => {
  const assets = join(directory, 'assets')
  mkdirSync(assets, { recursive: true })
  const scripts = await Bun.build({
    entrypoints: [join(SOURCE, 'src/main.tsx')],
    outdir: assets,
    naming: '[name]-[hash].[ext]',
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    metafile: true,
  })
  const font = writeHashed(assets, 'inter.woff2', readFileSync(join(ROOT, 'node_modules', FONT)))
  const style = writeHashed(assets, 'index.css', Buffer.from((await styleText()).replace('./inter.woff2', `./${font}`)))
  const outputs = [...scripts.outputs.map(({ path }) => basename(path)), style, font]
  const script = basename(scripts.outputs.find(({ kind }) => kind === 'entry-point')?.path ?? '')
  const preloaded = importedBy(scripts.metafile?.outputs ?? {}, script)
  const manifest: DashboardManifest = {
    files: Object.fromEntries(outputs.map((name) => [name, TYPES[extname(name)] ?? 'application/octet-stream'])),
  }
  const html = readFileSync(join(SOURCE, 'index.html'), 'utf8')
    .replace('%STYLE%', style)
    .replace('%SCRIPT%', script)
    .replace('%PRELOAD%', preloaded.map((name) => `<link rel="modulepreload" href="%BASE%/assets/${name}" />`).join(''))
  writeFileSync(join(directory, 'index.html'), html)
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify(manifest))
  writeFileSync(join(directory, 'licences.txt'), licencesOf(Object.keys(scripts.metafile?.inputs ?? {}), ROOT))
  const sizes = new Map(outputs.map((name) => [name, compress(join(assets, name))]))
  const firstLoadBytes = gzipSync(html).length + sum([script, style, ...preloaded].map((name) => sizes.get(name) ?? 0))
  holdTo('The first load', firstLoadBytes, FIRST_LOAD_MAX)
  holdTo('The style sheet', sizes.get(style) ?? 0, STYLE_MAX)
  for (const [name, bytes] of sizes) if (name.endsWith('.js') && name !== script) holdTo(`The script ${name}`, bytes, CHUNK_MAX)
  return { firstLoadBytes, files: outputs.length }
}

/** Styles are bundled separately, since the bundler drops the style sheet of a lazily loaded script (decisions/0059). */
const styleText = async (): Promise<string> => {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCE, 'src/styles/index.css')],
    // The bundler would inline the font as data in the style sheet, which the page's policy refuses.
    external: ['*.woff2'],
    minify: true,
  })
  return (await outputs[0]?.text()) ?? ''
}

/** Returns the hashed name. */
const writeHashed = (directory: string, name: string, content: Uint8Array): string => {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8)
  const hashed = name.replace('.', `-${hash}.`)
  writeFileSync(join(directory, hashed), content)
  return hashed
}

/** The scripts that this one imports, directly or indirectly. */
const importedBy = (outputs: Readonly<Record<string, { imports: readonly { path: string; kind: string }[] }>>, entry: string): string[] => {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]))
  const found = new Set<string>()
  const visit = (name: string): void => {
    for (const { path, kind } of byName.get(name)?.imports ?? []) {
      const imported = basename(path)
      if (kind !== 'import-statement' || found.has(imported) || !byName.has(imported)) continue
      found.add(imported)
      visit(imported)
    }
  }
  visit(entry)
  return [...found]
}

/** Writes both compressed forms beside the file; returns the size of the larger one, or the file's own size if it is not compressed. */
const compress = (path: string): number => {
  const content = readFileSync(path)
  if (!COMPRESSED.has(extname(path))) return content.length
  const gzip = gzipSync(content, { level: 9 })
  writeFileSync(`${path}.gz`, gzip)
  // Quality 11 takes ten times as long for a few per cent (decisions/0059).
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }))
  return gzip.length
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, next) => total + next, 0)

const holdTo = (what: string, bytes: number, most: number): void => {
  if (bytes > most)
    throw new Error(`${what} of the dashboard is ${(bytes / KB).toFixed(1)} KB compressed, above its budget of ${most / KB} KB.`)
}

/** The libraries of the dashboard are devDependencies: an installation without them serves everything else. */
const LIBRARIES = ['react', 'react-dom', '@tanstack/react-router', '@fontsource-variable/inter']

const missingLibraries = (): readonly string[] => LIBRARIES.filter((name) => !existsSync(join(ROOT, 'node_modules', name)))

const isBuildable = (): string | null => {
  if (!existsSync(join(SOURCE, 'src/main.tsx'))) return 'its sources are not part of this package'
  const missing = missingLibraries()
  return missing.length === 0 ? null : `${missing[0]} is not installed (--omit=dev)`
}

if (import.meta.main) {
  const reason = isBuildable()
  if (reason === null) {
    const directory = join(SOURCE, 'dist')
    const made = `${directory}.${process.pid}`
    try {
      const { firstLoadBytes, files } = await buildDashboard(made)
      rmSync(directory, { recursive: true, force: true })
      renameSync(made, directory)
      console.log(`dashboard: ${files} files, first load ${(firstLoadBytes / KB).toFixed(1)} KB compressed`)
    } finally {
      rmSync(made, { recursive: true, force: true })
    }
  } else console.log(`dashboard: not built, since ${reason}; the service runs without it`)
}
