/** Installs the pinned versions of a client into a folder of its own. */
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { KNOWN_CLIENTS, type KnownClient } from '../../dashboard/src/known-clients.ts'
import { DRIVERS } from './drivers.ts'
import { installFailure, Unavailable } from './install-failure.ts'

export interface Installed {
  readonly directory: string
  /** The program and arguments to run a driver of the suite, or a snippet, in that directory. */
  readonly command: (script: string) => readonly [string, ...string[]]
  /** The environment variables that it needs. */
  readonly env?: Readonly<Record<string, string>>
}

/** Libraries that can share a folder are installed once: those of Python, and those of Go. */
export const createInstaller = (clients: readonly KnownClient[], root: string): ((client: KnownClient) => Promise<Installed>) => {
  const begun = new Map<string, Promise<Installed>>()
  return ({ id, registry }) => {
    const folder = registry === 'npm' || DRIVERS[id]?.alone === true ? id : registry
    const known = begun.get(folder)
    if (known !== undefined) return known
    // The Go drivers are one program.
    const candidates = registry === 'go' ? KNOWN_CLIENTS : clients
    const together = candidates.filter(
      (client) => client.id === id || (folder === registry && client.registry === registry && DRIVERS[client.id]?.alone !== true),
    )
    const directory = join(root, folder)
    mkdirSync(directory, { recursive: true })
    const installed = REGISTRIES[registry](
      directory,
      Object.assign({}, ...together.map(({ packages }) => packages)) as KnownClient['packages'],
    )
    begun.set(folder, installed)
    return installed
  }
}

type Registry = (directory: string, packages: KnownClient['packages']) => Promise<Installed>

const REGISTRIES: Readonly<Record<KnownClient['registry'], Registry>> = {
  async npm(directory, packages) {
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies: packages }))
    await step('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], directory)
    cpSync(join(import.meta.dirname, 'javascript'), directory, { recursive: true })
    return { directory, command: (script) => ['node', join(directory, script)] }
  },
  async pypi(directory, packages) {
    const python = join(directory, 'venv/bin/python')
    await step('python3', ['-m', 'venv', 'venv'], directory)
    const pinned = Object.entries(packages).map(([name, version]) => `${name}==${version}`)
    await step(python, ['-m', 'pip', 'install', '--quiet', '--no-compile', '--disable-pip-version-check', ...pinned], directory)
    cpSync(join(import.meta.dirname, 'python'), directory, { recursive: true })
    return {
      directory,
      command: (script) => [python, join(directory, script)],
      env: { PATH: `${join(directory, 'venv/bin')}:${process.env['PATH']}` },
    }
  },
  async go(directory, packages) {
    cpSync(join(import.meta.dirname, 'go'), directory, { recursive: true })
    await step('go', ['mod', 'init', 'clients'], directory)
    await step('go', ['get', ...Object.entries(packages).map(([name, version]) => `${name}@v${version}`)], directory)
    await step('go', ['build', '-o', 'driver', '.'], directory)
    const caches = JSON.parse(await step('go', ['env', '-json', 'GOCACHE', 'GOMODCACHE', 'GOPATH'], directory)) as Record<string, string>
    const command = (script: string): readonly [string, ...string[]] =>
      script === 'driver' ? [join(directory, script)] : ['go', 'run', join(directory, script)]
    return { directory, command, env: caches }
  },
}

/** Returns the lines that the program prints. Throws with its last words if it is missing or fails. */
const step = (program: string, args: readonly string[], directory: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => (said = (said + piece).slice(-20_000)))
    child.once('error', (cause) => reject(new Unavailable(`${program} cannot be run (${cause.message})`)))
    child.once('close', (code) => {
      if (code === 0) resolve(said)
      else reject(installFailure(program, args[0] ?? '', said))
    })
  })
