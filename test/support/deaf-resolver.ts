/**
 * A name server that never answers. A process looks up its names there within a mount namespace of its own, in which another
 * /etc/resolv.conf lies over that of the machine.
 */
import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll } from 'bun:test'

/** An address of the loopback at which no other name server listens. */
const ADDRESS = '127.77.0.1'
const MOUNTED = `mount --bind "$0" /etc/resolv.conf && exec "$@"`

export interface DeafResolver {
  /** The command within which a program asks it. */
  readonly within: readonly string[]
  /** How many it was sent: two for each name, for both kinds of address, and the same again after some seconds. */
  readonly queries: number
}

/** Null where this machine lets nobody do that. Stopped after the tests of the file. Call it while the file loads. */
export const startDeafResolver = async (): Promise<DeafResolver | null> => {
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-resolver-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'resolv.conf')
  writeFileSync(path, `nameserver ${ADDRESS}\n`)
  const within = ['unshare', '--user', '--map-root-user', '--mount', '/bin/sh', '-c', MOUNTED, path]
  const [program = '', ...args] = within
  if (spawnSync(program, [...args, 'true'], { stdio: 'ignore' }).status !== 0) return null
  const socket = createSocket('udp4')
  const bound = await new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false))
    socket.bind(53, ADDRESS, () => resolve(true))
  })
  if (!bound) return null
  let queries = 0
  socket.on('message', () => (queries += 1))
  afterAll(() => void socket.close())
  return {
    within,
    get queries() {
      return queries
    },
  }
}
