/**
 * A data directory that lost a file, is full, or is accessible to others: what `serve` reports, and that it never starts afresh by itself.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'

import { call, infer, savePreset } from '../support/calls.ts'
import { patient } from '../support/patience.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()

const killed = async (): Promise<StartedService> => {
  const service = await services.start()
  await savePreset(service, 'kept', { model: 'sandbox/echo' })
  service.signal('SIGKILL')
  await service.exited
  return service
}

const refusedStart = async (dataDir: string, env?: Readonly<Record<string, string>>): Promise<string> => {
  const { code, stdout, stderr } = await services.run(['serve', '--port', '0', '--data-dir', dataDir], env)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^patchbay: [^\n]+\.\n$/)
  return stderr
}

describe('exit 2, one sentence and no new keys', () => {
  test.each(['deleted', 'emptied'])('the database was %s', async (what) => {
    const { dataDir } = await killed()
    for (const name of ['patchbay.db-wal', 'patchbay.db-shm']) rmSync(join(dataDir, name), { force: true })
    if (what === 'deleted') rmSync(join(dataDir, 'patchbay.db'))
    else truncateSync(join(dataDir, 'patchbay.db'))
    expect(await refusedStart(dataDir)).toContain('is missing or empty')
    // The command line does not create a new one either.
    expect(await services.run(['keys', 'create', '--kind=management', '--name=x', '--data-dir', dataDir])).toMatchObject({
      code: 2,
      stdout: '',
    })
    // It is the same if only the secret is left.
    rmSync(join(dataDir, 'database.json'))
    expect(await refusedStart(dataDir)).toEndWith(`move secret and journal out of ${dataDir}.\n`)
    rmSync(join(dataDir, 'journal'), { recursive: true })
    expect(await refusedStart(dataDir)).toEndWith(`move secret out of ${dataDir}.\n`)
    // Everything was removed deliberately, so a new start is allowed.
    rmSync(join(dataDir, 'secret'))
    expect((await services.start({ dataDir })).managementKey).toStartWith('pb_mgmt_')
  })

  test('a log that is lost with a change in it, or that was empty, never leads silently to an older state', async () => {
    const service = await killed()
    for (const name of ['patchbay.db-wal', 'patchbay.db-shm']) rmSync(join(service.dataDir, name), { force: true })
    const { code, stderr } = await services.run(['keys', 'list', '--data-dir', service.dataDir])
    if (code === 2) expect(stderr).toContain('has lost changes')
    else {
      const again = await services.start({ dataDir: service.dataDir })
      expect((await call(again, 'GET', '/presets/kept', { key: service.managementKey })).status).toBe(200)
    }
  })

  test('the lock file of a running service was deleted', async () => {
    const { dataDir } = await services.start()
    rmSync(join(dataDir, 'patchbay.lock'))
    expect(await refusedStart(dataDir)).toContain('Another process has')
  }, 300_000)

  test('the lock path is a directory', async () => {
    const dataDir = join(services.directory(), 'data')
    mkdirSync(join(dataDir, 'patchbay.lock'), { recursive: true })
    expect(await refusedStart(dataDir)).toContain('The lock file')
  })
})

describe('a first start succeeds', () => {
  test('in an empty or missing directory, and with a secret that the operator provides', async () => {
    for (const name of ['empty', 'missing']) {
      const dataDir = join(services.directory(), name)
      if (name === 'empty') mkdirSync(dataDir, { mode: 0o700 })
      expect((await services.start({ dataDir })).managementKey).toStartWith('pb_mgmt_')
    }
    expect((await services.start({ env: { PATCHBAY_SECRET: 's'.repeat(43) } })).managementKey).toStartWith('pb_mgmt_')
  })

  test('and what it created survives a kill', async () => {
    const { dataDir, managementKey } = await killed()
    const again = await services.start({ dataDir })
    expect(again.managementKey).toBe('')
    expect((await call(again, 'GET', '/presets/kept', { key: managementKey })).status).toBe(200)
  })
})

test('a service whose database was deleted while it runs is not ready, refuses changes, and saves what it has as it ends', async () => {
  const service = await services.start()
  await savePreset(service, 'kept', { model: 'sandbox/echo' })
  for (const name of ['patchbay.db', 'patchbay.db-wal', 'patchbay.db-shm']) rmSync(join(service.dataDir, name))
  const ready = async () => {
    const response = await fetch(`${service.url}/health/ready`)
    return [response.status, await response.json()]
  }
  await until(async () => (await ready())[0] === 503, 'not ready')
  expect(await ready()).toEqual([503, { status: 'the database file was deleted or replaced' }])
  const refused = await call(service, 'POST', '/presets/lost/chat/completions', { body: { model: 'sandbox/echo' } })
  expect(refused.status).toBe(503)
  await until(() => service.stderr().includes('Put the same file back; or stop the service'), 'the sentence in the log')
  await service.stop()
  const [rescued = ''] = readdirSync(service.dataDir).filter((name) => name.startsWith('patchbay.rescued-'))
  expect(await refusedStart(service.dataDir)).toContain('is missing or empty')
  copyFileSync(join(service.dataDir, rescued), join(service.dataDir, 'patchbay.db'))
  const again = await services.start({ dataDir: service.dataDir })
  expect((await call(again, 'GET', '/presets/kept', { key: service.managementKey })).status).toBe(200)
})

test('a service whose whole directory was deleted while it runs still ends, and saves what it has', async () => {
  const service = await services.start()
  await savePreset(service, 'kept', { model: 'sandbox/echo' })
  // The settlement of this request is in the journal.
  await infer(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] })
  await call(service, 'GET', '/generations')
  rmSync(service.dataDir, { recursive: true })
  expect(await service.stop()).toBe(0)
  const [rescued = ''] = readdirSync(service.dataDir).filter((name) => name.startsWith('patchbay.rescued-'))
  const database = new Database(join(service.dataDir, rescued))
  expect(database.query('select slug from presets').all()).toEqual([{ slug: 'kept' }])
  database.close()
})

test('management changes are in the database file within seconds, not only in the log', async () => {
  const service = await services.start()
  await savePreset(service, 'kept', { model: 'sandbox/echo' })
  const copy = join(services.directory(), 'copy')
  await until(
    async () => {
      rmSync(copy, { recursive: true, force: true })
      mkdirSync(copy, { mode: 0o700 })
      // The copy lacks the write-ahead log, as a careless backup does.
      for (const name of ['patchbay.db', 'secret']) copyFileSync(join(service.dataDir, name), join(copy, name))
      const restored = await services.start({ dataDir: copy })
      const { status } = await call(restored, 'GET', '/presets/kept', { key: service.managementKey })
      await restored.stop()
      return status === 200
    },
    'the checkpoint',
    patient(10_000),
  )
}, 300_000)

test('if others can read the secret file, their access is removed with a message', async () => {
  const { dataDir } = await killed()
  const path = join(dataDir, 'secret')
  chmodSync(path, 0o644)
  const { stderr, code } = await services.run(['keys', 'list', '--data-dir', dataDir])
  expect([code, stderr]).toEqual([0, expect.stringContaining('could be read by others (mode 644); it is mode 600 now')])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  chmodSync(path, 0o604)
  const service = await services.start({ dataDir })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  await until(() => (service.stdout() + service.stderr()).includes('could be read by others (mode 604)'), 'the warning')
})

const OTHER_USER = 65_534

/** Gives the data directory to another user, as a service manager does that runs the service as one. */
const giveAway = (dataDir: string): void => {
  for (const path of [dataDir, ...readdirSync(dataDir).map((name) => join(dataDir, name))]) chownSync(path, OTHER_USER, OTHER_USER)
}

describe.skipIf(process.getuid?.() !== 0)("what root's commands write belongs to the user of the service", () => {
  const owners = (dataDir: string) => Object.fromEntries(readdirSync(dataDir).map((name) => [name, statSync(join(dataDir, name)).uid]))

  test('a change of a key, and of the root secret', async () => {
    const { dataDir } = await killed()
    giveAway(dataDir)
    for (const verb of ['keys create --kind inference --name x', 'secret rotate', 'secret retire --force']) {
      expect((await services.run([...verb.split(' '), '--data-dir', dataDir])).code).toBe(0)
      expect(new Set(Object.values(owners(dataDir)))).toEqual(new Set([OTHER_USER]))
    }
  })

  test('a restored database, and what the first command makes in an empty directory', async () => {
    const { dataDir } = await killed()
    const backup = join(services.directory(), 'backup.db')
    expect((await services.run(['backup', backup, '--data-dir', dataDir])).code).toBe(0)
    const [restored, made] = [services.directory(), services.directory()]
    for (const directory of [restored, made]) giveAway(directory)
    expect((await services.run(['restore', backup, '--data-dir', restored])).code).toBe(0)
    expect(owners(restored)).toEqual({ 'patchbay.db': OTHER_USER })
    expect((await services.run(['keys', 'create', '--kind=inference', '--name=x', '--data-dir', made])).code).toBe(0)
    expect(owners(made)).toEqual({ 'database.json': OTHER_USER, 'patchbay.db': OTHER_USER, secret: OTHER_USER })
  })

  test('the journal of a service that root started', async () => {
    const dataDir = services.directory()
    giveAway(dataDir)
    const service = await services.start({ dataDir })
    await infer(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] })
    service.signal('SIGKILL')
    await service.exited
    expect(owners(dataDir)).toMatchObject({ journal: OTHER_USER })
    expect(Object.values(owners(join(dataDir, 'journal')))).toEqual([OTHER_USER])
  })
})

describe.skipIf(process.getuid?.() !== 0)('exit 2: a file that the user of the service may not use, with what to do', () => {
  test.each(['patchbay.db', 'database.json'])('%s', async (name) => {
    const { dataDir } = await killed()
    giveAway(dataDir)
    chownSync(join(dataDir, name), 0, 0)
    chmodSync(join(dataDir, '..'), 0o755)
    const program = join(import.meta.dir, '../../bin/patchbay')
    const ended = asRoot('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', program, 'serve', '--port=0', '--data-dir', dataDir)
    const stderr = ended.stderr.toString()
    expect([ended.status, stderr]).toEqual([2, expect.stringContaining(name)])
    expect(stderr).toEndWith(`Make the user of the service the owner of the files in ${dataDir}.\n`)
  })
})

const READ_ONLY = ['unshare', '--mount', '/bin/sh', '-c', 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && "$@"']

describe.skipIf(process.getuid?.() !== 0 || asRoot(...READ_ONLY, services.directory(), 'true').status !== 0)(
  'exit 2: a file system that is read-only, and not who its files belong to,',
  () => {
    test.each(['serve --port=0', 'keys list'])('for %s', async (verb) => {
      const { dataDir } = await killed()
      const program = join(import.meta.dir, '../../bin/patchbay')
      const ended = asRoot(...READ_ONLY, dataDir, program, ...verb.split(' '), '--data-dir', dataDir)
      expect([ended.status, ended.stderr.toString()]).toEqual([
        2,
        expect.stringMatching(new RegExp(`^patchbay: [^\\n]+ The file system of ${dataDir} is read-only\\.\\n$`)),
      ])
    })
  },
)

function asRoot(...command: readonly string[]) {
  return spawnSync('/usr/bin/env', [...command])
}

/** Fills the disk to the last byte. */
const fill = (path: string): void => {
  const file = openSync(path, 'w')
  for (let size = 1 << 20; size >= 1;) {
    try {
      if (writeSync(file, Buffer.alloc(size)) < size) size >>= 1
    } catch {
      size >>= 1
    }
  }
  closeSync(file)
}

/** A small file system that can be filled; only root may mount one. */
const mountSmall = (): string | null => {
  const place = services.directory()
  return asRoot('mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', place).status === 0 ? place : null
}
const small = mountSmall()
/** It does not fit into the free pages of the database. */
const LARGE = [{ role: 'system', content: 'x'.repeat(200_000) }]

test.skipIf(small === null)('503 while the disk is full, and 200 once there is space again (needs the right to mount)', async () => {
  const place = small ?? ''
  const filler = join(place, 'filler')
  try {
    const service = await services.start({ dataDir: join(place, 'data') })
    const state = async () => {
      const response = await fetch(`${service.url}/health/ready`)
      return [response.status, ((await response.json()) as { status: string }).status]
    }
    expect(await state()).toEqual([200, 'ready'])
    fill(filler)
    await until(async () => (await state())[0] === 503, 'not ready')
    expect(await state()).toEqual([503, 'storage takes no writes'])
    const doctor = await services.run(['doctor', '--data-dir', join(place, 'data')])
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(/^WRONG {2}storage: The disk of .* is full\./m) })
    const saved: number[] = []
    const save = async () => {
      const { status } = await call(service, 'POST', '/presets/large/chat/completions', {
        body: { model: 'sandbox/echo', messages: LARGE },
      })
      if (status !== 503) saved.push(status)
      return status
    }
    // The log of the database may have room for a few changes.
    await until(async () => (await save()) === 503, 'refused')
    rmSync(filler)
    await until(async () => (await state())[0] === 200, 'ready')
    expect(await save()).toBe(200)
    expect(saved.every((status) => status === 200)).toBe(true)
    const { json } = await call(service, 'GET', '/presets/large', {})
    expect(json).toMatchObject({ data: { designated_version: { version: saved.length } } })
    await service.stop()
    // A start there says so, whichever file it is that finds no room.
    fill(filler)
    expect(await refusedStart(service.dataDir)).toEndWith(`The disk of ${service.dataDir} is full.\n`)
    const backup = join(services.directory(), 'backup.db')
    copyFileSync(join(service.dataDir, 'patchbay.db'), backup)
    const restored = join(place, 'restored')
    const { code, stderr } = await services.run(['restore', backup, '--data-dir', restored])
    expect(code).toBe(2)
    expect(stderr).toStartWith(`patchbay: ${backup} cannot be copied or moved to ${restored}/`)
    expect(stderr).toEndWith('patchbay.db (ENOSPC).\n')
  } finally {
    asRoot('umount', '-l', place)
  }
})
