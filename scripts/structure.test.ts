/** The structure in ARCHITECTURE.md: the allowed imports, and the place of each dialect's files. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const ARCHITECTURE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const entriesBelow = (folder: string, isWanted: (entry: { isFile(): boolean }) => boolean): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter(isWanted)
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(ROOT.length + 1)
        .replaceAll('\\', '/'),
    )

/** The files that make up the service, without tests and code that only tests use. */
const SOURCES = entriesBelow('src', (entry) => entry.isFile()).filter(
  (path) => path.endsWith('.ts') && !/\.(?:test|test-kit)\.ts$|\/testing\//.test(path),
)

const IMPORT = /^(?:import|export)\b[^'\n]*(?:\n[^'\n]*)*?\bfrom '(\.[^']+)'|^import '(\.[^']+)'|\bimport\(\s*'(\.[^']+)'/gm

const importsOf = (path: string): string[] =>
  [...read(path).matchAll(IMPORT)].map(([, named, bare, dynamic]) => join(dirname(path), named ?? bare ?? dynamic ?? ''))

/** By path from the root; type imports count like others. */
const IMPORTS = new Map(SOURCES.map((path) => [path, importsOf(path).filter((imported) => imported.startsWith('src/'))]))

/** The folder below src, or the name of a file directly in it. */
const unitOf = (path: string): string => (path.split('/')[1] ?? '').replace(/\.ts$/, '')

interface Layer {
  readonly level: number
  readonly units: readonly string[]
}

/** The rows of the table in ARCHITECTURE.md. */
const LAYERS: readonly Layer[] = [...ARCHITECTURE.matchAll(/^\| (\d) \| (.+?) \|/gm)].map(([, level, units = '']) => ({
  level: Number(level),
  units: [...units.matchAll(/`([\w-]+)`/g)].map(([, unit = '']) => unit),
}))

const LEVELS: ReadonlyMap<string, number> = new Map(LAYERS.flatMap(({ level, units }) => units.map((unit) => [unit, level] as const)))

/** Imports between units of one level, written `a → b, c` in the table. */
const SIDEWAYS: ReadonlySet<string> = new Set(
  [...ARCHITECTURE.matchAll(/([\w-]+) → ([\w-]+(?:, [\w-]+)*)/g)].flatMap(([, from = '', to = '']) =>
    to.split(', ').map((unit) => `${from} → ${unit}`),
  ),
)

const OUTERMOST = 6
/** The part of level 2 that a level may import if it may not import all of it. */
const OF_LEVEL_2: ReadonlyMap<number, readonly string[]> = new Map([
  [5, ['formats', 'storage', 'telemetry']],
  [3, ['storage']],
])
/** The only file of the providers that level 3 may use, for its requests. */
const SAFE_FETCH = 'src/providers/transport/safe-fetch.ts'
const MAY_FETCH = /^src\/(?:guardrails\/moderate\.ts$|tools\/|broadcast\/)/

const isAllowed = (from: string, to: string): boolean => {
  const [importer, imported] = [unitOf(from), unitOf(to)]
  const [high, low] = [LEVELS.get(importer), LEVELS.get(imported)]
  if (high === undefined || low === undefined) return false
  if (importer === imported || high === OUTERMOST) return true
  if (high === low) return SIDEWAYS.has(`${importer} → ${imported}`)
  if (to === SAFE_FETCH && MAY_FETCH.test(from)) return true
  return high > low && (low !== 2 || (OF_LEVEL_2.get(high)?.includes(imported) ?? true))
}

test('each folder and file below src stands in the table of levels, once', () => {
  expect(LAYERS.flatMap(({ units }) => units).sort()).toEqual([...new Set(SOURCES.map(unitOf))].sort())
})

test('imports go downward, or sideways where the table says so', () => {
  const wrong = [...IMPORTS].flatMap(([from, imported]) => imported.filter((to) => !isAllowed(from, to)).map((to) => `${from} → ${to}`))
  expect(wrong).toEqual([])
})

test.each(['src', 'dashboard', 'bench', 'scripts', 'test'])('no files below %s import each other in a circle, types included', (folder) => {
  const files = entriesBelow(folder, (entry) => entry.isFile()).filter((path) => /\.tsx?$/.test(path))
  expect(files).not.toEqual([])
  expect(circles(new Map(files.map((path) => [path, importsOf(path)])))).toEqual([])
})

test('acceptance tests are black boxes: they import nothing from src', () => {
  const files = entriesBelow('test/acceptance', (entry) => entry.isFile())
  expect(files.filter((path) => importsOf(path).some((imported) => imported.startsWith('src/')))).toEqual([])
})

test('a circle is found', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c']],
    ['c', ['b', 'd']],
    ['d', []],
  ])
  expect(circles(imports)).toEqual([['b', 'c', 'b']])
})

/** The only files that may use each of these. Two more use features that only Bun has and that no pattern can tell: see ARCHITECTURE.md. */
const RESERVED: readonly (readonly [use: string, pattern: RegExp, files: readonly string[]])[] = [
  [
    'Bun',
    /\bBun\.\w|from 'bun/,
    [
      'http/server.ts',
      'storage/redis-client.ts',
      'storage/sqlite/sqlite-driver.ts',
      'storage/sqlite/sqlite-thread-side.ts',
      'storage/sqlite/sqlite-thread.ts',
      'storage/sqlite/sqlite.ts',
    ],
  ],
  ['the environment', /\bprocess\.env\b/, ['config.ts', 'lib/network/outgoing-proxy.ts']],
  ['time', /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bset(?:Timeout|Interval)\(/, ['lib/clock.ts']],
  ['randomness', /\brandom(?:Bytes|Int|UUID)\(|\bMath\.random\(|\bgetRandomValues\(/, ['lib/id.ts', 'root-secret.ts']],
]

test.each(RESERVED)('only the files that ARCHITECTURE.md names use %s', (_, pattern, files) => {
  expect(SOURCES.filter((path) => pattern.test(read(path))).sort()).toEqual(files.map((file) => `src/${file}`))
})

/** The runtime's own modules that take milliseconds to load, and that a start needs none of (decisions/0266). */
const DEAR_MODULES = /^import (?!type\b)[^'\n]*(?:\n[^'\n]*)*? from '(node:(?:child_process|http|https|net|tls|worker_threads|zlib))'/gm

test('the dear modules of the runtime are loaded on first use, by getBuiltinModule', () => {
  expect(SOURCES.flatMap((path) => [...read(path).matchAll(DEAR_MODULES)].map(([, name]) => `${path} imports ${name}`))).toEqual([])
})

const VALUE_IMPORT = /^(?:import|export) (?!type\b)([^'\n]*(?:\n[^'\n]*)*?)\bfrom '(\.[^']+)'/gm

const isTypesOnly = (clause: string): boolean => /^\{\s*(?:type [\w$]+(?: as [\w$]+)?,?\s*)+\}\s*$/.test(clause)

/** The files whose code runs before the service is ready; what `import()` names runs later. */
const loadedAtStart = (): ReadonlySet<string> => {
  const loaded = new Set(['src/main.ts', 'src/cli/serve.ts'])
  for (const path of loaded) {
    for (const [, clause = '', imported = ''] of read(path).matchAll(VALUE_IMPORT)) {
      if (!isTypesOnly(clause)) loaded.add(join(dirname(path), imported))
    }
  }
  return loaded
}

/** A start needs only these files of the management API: each schema takes time and memory, also in services that never use it (decisions/0266). */
const AT_START: Readonly<Record<string, readonly string[]>> = {
  'src/http/routes': ['count-tokens', 'dashboard', 'embeddings', 'inference', 'service'],
  'src/contract': [
    'destination',
    'dollar-amount',
    'embeddings',
    'evaluation-items',
    'exclusive-use',
    'file-name',
    'generation',
    'generation-content',
    'halt-rule',
    'in-workspace',
    'issue-sentence',
    'json-value',
    'key-filter',
    'key-hash',
    'named-values',
    'nearest-key',
    'paging',
    'preset-name',
    'preset-test',
    'provider-failure',
    'sign-in',
    'split',
    'stored-text',
    'time-range',
    'validate',
    'workspace-settings',
  ],
  'src/reference': [],
}

test.each(Object.entries(AT_START))('a start loads no other file of %s than these', (folder, files) => {
  const loaded = [...loadedAtStart()].filter((path) => dirname(path) === folder)
  expect(loaded.toSorted()).toEqual(files.map((file) => `${folder}/${file}.ts`).toSorted())
})

test('each folder below src is in ARCHITECTURE.md', () => {
  const folders = entriesBelow('src', (entry) => !entry.isFile())
  expect(folders.filter((folder) => !ARCHITECTURE.includes(`${folder.split('/').at(-1)}/`))).toEqual([])
})

/** The files that each folder must have. A file that a dialect lacks is listed with the reason, and must be missing. */
interface Grid {
  readonly folders: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly files: readonly string[]
}

const PROVIDERS: Grid = {
  folders: {
    anthropic: {},
    bedrock: { 'encode-reasoning.ts': 'Its settings hold the thinking of each family, and Claude has that of anthropic/.' },
    google: { 'encode-parts.ts': 'What a part becomes depends on the parts around it: encode-conversation.ts.' },
    'openai-chat': {},
    'openai-responses': {},
  },
  files: [
    '<folder>.ts',
    'encode.ts',
    'encode-conversation.ts',
    'encode-parts.ts',
    'encode-reasoning.ts',
    'encode-settings.ts',
    'encode-tools.ts',
    'encode.test-kit.ts',
    'encode.test.ts',
    'decode.ts',
    'decode-usage.ts',
    'decode.test.ts',
    'errors.ts',
    '<folder>.test.ts',
  ],
}

const FORMATS: Grid = {
  folders: { 'anthropic-messages': {}, 'openai-chat': {}, 'openai-responses': {} },
  files: [
    '<folder>.ts',
    'parse-prompt.ts',
    'parse-prompt.test.ts',
    'preset-config.ts',
    'preset-config.test.ts',
    'read-call.ts',
    'read-settings.ts',
    'relay-answer.ts',
    'relay-stream.ts',
    'relay-stream.test.ts',
    'render.ts',
    'render.test.ts',
    'render-error.ts',
    'render-stream.ts',
    'render-stream.test-kit.ts',
    'render-stream.test.ts',
    'render-thinking.test.ts',
    'schema.ts',
    'usage.ts',
  ],
}

/** Folders of what several of the providers' dialects use. */
const SHARED_BY_DIALECTS = ['failures', 'losses', 'media', 'redaction', 'roles', 'thinking', 'tools', 'transport', 'vendors']

describe.each([
  ['src/providers', PROVIDERS, [...SHARED_BY_DIALECTS, 'sandbox']],
  ['src/formats', FORMATS, []],
] as const)('%s: a folder a dialect, with the same files', (parent, { folders, files }, others) => {
  test('the grid has every folder', () => {
    const there = entriesBelow(parent, (entry) => !entry.isFile()).map((path) => path.slice(parent.length + 1))
    expect(there.sort()).toEqual([...Object.keys(folders), ...others].sort())
  })

  test.each(Object.entries(folders))('%s', (folder, lacking) => {
    const there = new Set(readdirSync(join(ROOT, parent, folder)))
    const missing = files.map((file) => file.replace('<folder>', folder)).filter((file) => !there.has(file))
    expect(missing).toEqual(Object.keys(lacking))
  })
})

/** Each cycle once, as a path that ends where it began. */
const circles = (imports: ReadonlyMap<string, readonly string[]>): string[][] => {
  const found: string[][] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      found.push([...path.slice(path.indexOf(file)), file])
      return
    }
    if (done.has(file)) return
    for (const imported of imports.get(file) ?? []) visit(imported, [...path, file])
    done.add(file)
  }
  for (const file of imports.keys()) visit(file, [])
  return found
}
