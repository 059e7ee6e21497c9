/** A fresh clone, installed and started as the first three lines of the README say. It may use a registry only during the installation. */
import { afterAll, describe, expect, test } from 'bun:test'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const directory = mkdtempSync(join(tmpdir(), 'patchbay-clone-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const run = (command: string, args: readonly string[], cwd: string): string => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, CI: undefined } })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** Copies the files that git knows, with their present contents. */
const cloned = (name: string): string => {
  const clone = join(directory, name)
  for (const file of run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], ROOT).split('\0')) {
    if (file === '') continue
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    cpSync(join(ROOT, file), join(clone, file), { force: true, errorOnExist: false })
  }
  return clone
}

const install = (clone: string, ...flags: readonly string[]): string =>
  run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...flags], clone)

/** Runs a program in a network namespace of its own, where it can reach only itself; null if that is not permitted. */
const ALONE = spawnSync('unshare', ['--net', 'true']).status === 0 ? 'ip link set lo up 2>/dev/null; ' : null

/** The status and the body of a page of a service started with `npm start`, without a network if the machine permits that. */
const pageOf = async (clone: string, path: string): Promise<{ readonly status: string; readonly html: string }> => {
  const data = mkdtempSync(join(directory, 'data-'))
  // One shell both starts the service and sends the request, since no other process is in its network.
  const script = `${ALONE ?? ''}npm start -- --port 0 --data-dir ${data} > ${data}/said 2>&1 & service=$!
    for try in $(seq 600); do url=$(sed -n 's/^patchbay ready //p' ${data}/said); [ -n "$url" ] && break; kill -0 $service || break; sleep 0.1; done
    curl --silent --max-time 20 --write-out '\\n%{http_code}' "$url${path}" || cat ${data}/said
    kill -- -$$`
  const [command, ...args] = ALONE === null ? ['sh', '-c', script] : ['unshare', '--net', 'sh', '-c', script]
  const child = spawn(command ?? 'sh', args, {
    cwd: clone,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, CI: undefined },
  })
  let said = ''
  child.stdout.on('data', (piece: Buffer) => (said += piece.toString()))
  await new Promise((resolve) => void child.once('close', resolve))
  const end = said.lastIndexOf('\n')
  return { status: said.slice(end + 1), html: said.slice(0, end) }
}

const SENTENCE = /The dashboard was not built when this package was installed: run <code>([^<]+)<\/code> in its folder/

describe('a fresh clone', () => {
  test('starts where scripts were ignored, says in one sentence what builds the dashboard, and has it after npm install, offline', async () => {
    const clone = cloned('whole')
    install(clone, '--ignore-scripts')
    const bare = await pageOf(clone, '/dashboard')
    expect(bare).toEqual({ status: '503', html: expect.stringMatching(SENTENCE) })
    install(clone)
    expect(await pageOf(clone, '/dashboard')).toEqual({ status: '200', html: expect.stringContaining('/dashboard/assets/') })
  }, 600_000)

  test('starts without what only its development needs, and the sentence on /dashboard is a command that builds it', async () => {
    const clone = cloned('lean')
    install(clone, '--omit=dev')
    const { status, html } = await pageOf(clone, '/dashboard')
    expect({ status, html }).toEqual({ status: '503', html: expect.stringMatching(SENTENCE) })
    const command = (SENTENCE.exec(html)?.[1] ?? '').replaceAll('&amp;', '&')
    run('sh', ['-c', command], clone)
    expect((await pageOf(clone, '/dashboard')).status).toBe('200')
  }, 600_000)
})
