/** Brings a client, in its pinned versions, into a folder of its own. */
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { KnownClient } from '../../src/contract/known-clients.ts'
import { DRIVERS } from './drivers.ts'

/** How to run a script of the suite, or of a user, with the client. */
export interface Installed {
  readonly directory: string
  /** The program and the arguments in front of a script's path. */
  readonly run: readonly string[]
}

/** Why a client cannot be had here: no toolchain, or no registry. */
export class Unavailable extends Error {}

/** What is installed together is installed once: the Python libraries, which can share one environment. */
export const createInstaller = (clients: readonly KnownClient[], root: string): ((client: KnownClient) => Promise<Installed>) => {
  const begun = new Map<string, Promise<Installed>>()
  return ({ id, registry }) => {
    const folder = registry === 'npm' || DRIVERS[id]?.alone === true ? id : registry
    const known = begun.get(folder)
    if (known !== undefined) return known
    const together = clients.filter((client) =>
      folder === registry ? client.registry === registry && DRIVERS[client.id]?.alone !== true : client.id === id,
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
    return { directory, run: ['node'] }
  },
  async pypi(directory, packages) {
    const python = join(directory, 'venv/bin/python')
    await step('python3', ['-m', 'venv', 'venv'], directory)
    const pinned = Object.entries(packages).map(([name, version]) => `${name}==${version}`)
    await step(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...pinned], directory)
    cpSync(join(import.meta.dirname, 'python'), directory, { recursive: true })
    return { directory, run: [python] }
  },
  async go() {
    throw new Unavailable('not yet')
  },
}

/** Throws Unavailable with the last words of a program that is missing or fails. */
const step = (program: string, args: readonly string[], directory: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => (said = (said + piece).slice(-2000)))
    child.once('error', (cause) => reject(new Unavailable(`${program} cannot be run (${cause.message})`)))
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new Unavailable(`${program} ${args[0] ?? ''} failed: ${said.trim().split('\n').slice(-3).join(' ')}`))
    })
  })
