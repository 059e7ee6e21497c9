import { afterAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { spawn, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { digestOf, type Made, MADE_FROM, programOf, UNSURE } from '../bin/launch.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createReadDocument } from '../src/lib/documents/read-document.ts'
import { pdfOf } from '../test/support/pdfs.ts'
import { makeBundle } from './bundle.ts'

const ROOT = join(import.meta.dirname, '..')
const directory = mkdtempSync(join(tmpdir(), 'patchbay-bundle-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Makes a package with one source and a bundle of it. */
const makePackage = (changes: Partial<Made> = {}): string => {
  const root = mkdtempSync(join(directory, 'package-'))
  for (const folder of ['src', 'dist']) mkdirSync(join(root, folder))
  for (const file of ['src/main.ts', 'dist/main.js']) writeFileSync(join(root, file), 'one')
  const { size, mtimeMs } = statSync(join(root, 'src/main.ts'))
  const made: Made = {
    bun: process.versions.bun,
    files: [['src/main.ts', size, mtimeMs, digestOf(readFileSync(join(root, 'src/main.ts')))]],
    ...changes,
  }
  writeFileSync(join(root, 'dist', MADE_FROM), JSON.stringify(made))
  return root
}

const LATER = new Date('2030-01-01T00:00:00Z')
const BUNDLE = 'dist/main.js'
const SOURCE = 'src/main.ts'

describe('a stale bundle never runs', () => {
  const cases: readonly (readonly [string, string, (root: string) => unknown])[] = [
    ['nothing changed', BUNDLE, () => undefined],
    ['a copy has other times and the same content', BUNDLE, (root) => utimesSync(join(root, SOURCE), LATER, LATER)],
    ['a source is longer', SOURCE, (root) => writeFileSync(join(root, SOURCE), 'three')],
    [
      'a source has another content and the same length',
      SOURCE,
      (root) => {
        writeFileSync(join(root, SOURCE), 'two')
        utimesSync(join(root, SOURCE), LATER, LATER)
      },
    ],
    [
      'a source is older than the bundle, and another',
      SOURCE,
      (root) => {
        writeFileSync(join(root, SOURCE), 'two')
        utimesSync(join(root, SOURCE), new Date(0), new Date(0))
      },
    ],
    ['there is no bundle', SOURCE, (root) => rmSync(join(root, 'dist'), { recursive: true })],
    ['the package came without sources', BUNDLE, (root) => rmSync(join(root, 'src'), { recursive: true })],
  ]
  test.each(cases)('%s: %s', (_, expected, change) => {
    const root = makePackage()
    change(root)
    expect(programOf(root)).toBe(join(root, expected))
  })

  test('a file that was there when the bundle was made is gone: the sources run', () => {
    expect(programOf(makePackage({ files: [['src/gone.ts', 3, 0, 'x']] }))).toEndWith(SOURCE)
  })

  test('a file that was just being changed is compared by its content, whatever its time', () => {
    expect(programOf(makePackage({ files: [[SOURCE, 3, UNSURE, digestOf(Buffer.from('one'))]] }))).toEndWith(BUNDLE)
    expect(programOf(makePackage({ files: [[SOURCE, 3, UNSURE, digestOf(Buffer.from('two'))]] }))).toEndWith(SOURCE)
  })

  test('another version of the runtime runs the sources, since the bytecode is not its own', () => {
    expect(programOf(makePackage({ bun: '0.0.1' }))).toEndWith(SOURCE)
  })
})

describe('the bundle', () => {
  const installed = join(directory, 'installed')

  test('runs without sources and dependencies, and writes nothing beside itself', async () => {
    await makeBundle(join(installed, 'dist'))
    cpSync(join(ROOT, 'bin/launch.ts'), join(installed, 'bin/launch.ts'))
    const before = readdirSync(installed, { recursive: true })
    const child = spawn(join(ROOT, 'bin/bun'), [
      join(installed, 'bin/launch.ts'),
      'serve',
      '--port',
      '0',
      '--data-dir',
      join(directory, 'data'),
    ])
    try {
      const url = await new Promise<string>((resolve, reject) => {
        let shown = ''
        child.stdout.on('data', (piece: Buffer) => {
          shown += piece.toString()
          const ready = /patchbay ready (\S+)\n/.exec(shown)?.[1]
          if (ready !== undefined) resolve(ready)
        })
        child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
      })
      for (const path of ['/health/ready', '/docs', '/openapi.json']) expect((await fetch(url + path)).status).toBe(200)
    } finally {
      child.kill('SIGTERM')
      await new Promise((resolve) => void child.once('exit', resolve))
    }
    expect(readdirSync(installed, { recursive: true })).toEqual(before)
  }, 300_000)

  test('reads pages and PDFs by its own process for documents', async () => {
    const read = createReadDocument({ clock: systemClock, program: join(installed, 'dist/document-process.js') })
    const limits = { timeoutMs: 60_000 }
    expect(
      await read({ kind: 'html', url: 'https://a.example/', charset: null, maxCharacters: 99 }, Buffer.from('<p>Hi'), limits),
    ).toMatchObject({
      text: 'Hi',
    })
    expect(await read({ kind: 'pdf', maxPages: 9, maxCharacters: 99 }, pdfOf(['Hello']), limits)).toMatchObject({ text: 'Hello' })
  })

  test('an entry point is the bundle beside the one that asks, wherever that was moved to', async () => {
    const asking = join(directory, 'asking.ts')
    writeFileSync(
      asking,
      `import { entryPoint } from ${JSON.stringify(join(ROOT, 'src/lib/entry-points.ts'))}\nconsole.log(entryPoint('main.ts'))`,
    )
    const [made, moved] = [join(directory, 'made'), join(directory, 'moved')]
    await makeBundle(made, [asking])
    renameSync(made, moved)
    const said = (program: string): string => spawnSync(join(ROOT, 'bin/bun'), [program], { encoding: 'utf8' }).stdout.trim()
    expect(said(join(moved, 'asking.js'))).toBe(join(moved, 'main.js'))
    expect(said(asking)).toBe(join(ROOT, 'src/main.ts'))
  })

  test('no source but entry-points.ts asks where it is: in a bundle, import.meta names the place of the source', () => {
    const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      /(?<!\.test|\.test-kit)\.ts$/.test(file),
    )
    const asking = files.filter((file) => /import\.meta\.\w/.test(readFileSync(join(ROOT, 'src', file), 'utf8')))
    expect(asking).toEqual(['lib/entry-points.ts'])
  })

  test('keeps the names of functions, for stack traces', () => {
    expect(readFileSync(join(installed, 'dist/main.js'), 'utf8')).toMatch(/\brunCommandLine\b/)
  })
})
