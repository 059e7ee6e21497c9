/**
 * The package that `npm pack` makes, installed as deploy/Containerfile does it: in an empty folder, and run by a user who may not write to
 * it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { pdfOf } from '../test/support/pdfs.ts'

const ROOT = join(import.meta.dirname, '..')
const directory = mkdtempSync(join(tmpdir(), 'patchbay-packed-'))
const installed = join(directory, 'installed')
const data = join(directory, 'data')
const packed = join(installed, 'node_modules/patchbay')

/** Root may write everywhere, so if root runs this test, the service runs as nobody. */
const NOBODY = 65_534
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

const run = (command: string, args: readonly string[], cwd: string): string => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
  return stdout
}

beforeAll(() => {
  // `npm install` has already made dist/; making it again would remove it while other tests use it.
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', directory], ROOT)
  for (const folder of [installed, data]) mkdirSync(folder)
  const archive = readdirSync(directory).find((name) => name.endsWith('.tgz')) ?? ''
  run('npm', ['install', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', join('..', archive)], installed)
  chmodSync(directory, 0o755)
  if (user.uid === undefined) run('chmod', ['-R', 'a-w', installed], directory)
  else chownSync(data, user.uid, user.gid)
}, 300_000)
afterAll(() => {
  run('chmod', ['-R', 'u+w', directory], ROOT)
  rmSync(directory, { recursive: true, force: true })
})

/** All files with size and time. */
const treeOf = (path: string): readonly string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' }).map((file) => {
    const { size, mtimeMs } = statSync(join(path, file), { throwIfNoEntry: false }) ?? {}
    return `${file} ${size} ${mtimeMs}`
  })

const READY = /patchbay ready (\S+)\nmanagement key (\S+)\ninference key (\S+)\n/

describe('the packed artefact', () => {
  test('holds the bundle, its documents and the licences of what is in it, and neither sources nor an executable', () => {
    expect(
      readdirSync(packed)
        .filter((name) => name !== 'node_modules')
        .sort(),
    ).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'bin', 'dashboard', 'dist', 'docs', 'package.json'].sort())
    expect(existsSync(join(packed, 'dist/patchbay'))).toBe(false)
    for (const file of ['LICENSES.txt', 'sbom.cdx.json']) expect(readdirSync(join(packed, 'dist'))).toContain(file)
  })

  test('starts, answers, reads a PDF and stops, though it may write nothing but its data directory', async () => {
    const before = treeOf(installed)
    const child = spawn(join(installed, 'node_modules/.bin/patchbay'), ['serve', '--port', '0', '--data-dir', data], {
      ...user,
      cwd: '/',
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = new Promise<number | null>((resolve) => void child.once('close', (code) => resolve(code)))
    try {
      const [, url = '', , key = ''] = await new Promise<RegExpExecArray>((resolve, reject) => {
        let shown = ''
        child.stdout.on('data', (piece: Buffer) => {
          shown += piece.toString()
          const ready = READY.exec(shown)
          if (ready !== null) resolve(ready)
        })
        void exited.then((code) => reject(new Error(`ended with ${code}`)))
      })
      for (const path of ['/health/ready', '/docs', '/openapi.json', '/metrics', '/dashboard'])
        expect((await fetch(url + path)).status).toBe(200)
      const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdfOf(['Found in the file']).toString('base64')}` }
      const answer = await fetch(`${url}/api/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'sandbox/echo',
          plugins: [{ id: 'file-parser', pdf: { engine: 'pdf-text' } }],
          messages: [{ role: 'user', content: [{ type: 'file', file }] }],
        }),
      })
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Found in the file')])
      child.kill('SIGTERM')
      expect(await exited).toBe(0)
    } finally {
      child.kill('SIGKILL')
    }
    expect(treeOf(installed)).toEqual(before)
    expect(readFileSync(join(data, 'secret'), 'utf8')).not.toBe('')
  }, 300_000)
})
