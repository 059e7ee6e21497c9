/** A backup of a running service, restored elsewhere (docs/operating.md). */
import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { call, createKey, infer } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { useServices } from '../support/started-service.ts'

const services = useServices()
const REQUESTS = 20

describeEachEngine('patchbay backup', (engine) => {
  test('a backup of a service under load can be restored into a new directory with its keys, presets and ledger, and passes the audit', async () => {
    const { databaseUrl } = await engine.locate()
    const flags = databaseUrl === null ? [] : ['--database-url', databaseUrl]
    const service = await services.start({ flags })
    const saved = await call(service, 'POST', '/presets/kept/messages', { body: { model: 'sandbox/echo', system: 'Be kind.' } })
    expect(saved.status).toBe(200)
    const made = await createKey(service, { name: 'spender', limit: 5 })
    const ask = () => infer(service, { model: '@preset/kept', messages: [{ role: 'user', content: 'Hi' }] }, { key: made.key })
    expect((await ask()).status).toBe(200)

    const path = join(services.directory(), 'kept.db')
    const [backup] = await Promise.all([
      services.run(['backup', path, '--data-dir', service.dataDir, ...flags]),
      ...Array.from({ length: REQUESTS }, ask),
    ])
    expect([backup.code, backup.stderr]).toEqual([0, ''])
    expect(backup.stdout).toContain(path)

    const restored = join(services.directory(), 'data')
    const restore = await services.run(['restore', path, '--data-dir', restored])
    expect([restore.code, restore.stderr]).toEqual([0, ''])
    copyFileSync(join(service.dataDir, 'secret'), join(restored, 'secret'))
    const audit = await services.run(['ledger', 'audit', '--data-dir', restored])
    expect([audit.code, audit.stdout]).toEqual([0, expect.not.stringContaining('WRONG')])

    const again = await services.start({ dataDir: restored })
    const elsewhere = { ...again, managementKey: service.managementKey, inferenceKey: service.inferenceKey }
    expect((await call(elsewhere, 'GET', '/presets/kept')).status).toBe(200)
    expect((await infer(elsewhere, { model: '@preset/kept', messages: [{ role: 'user', content: 'Hi' }] }, { key: made.key })).status).toBe(
      200,
    )
  })
})

test('exit 2 with one sentence for an existing path, for no data, and for a directory that has a database', async () => {
  const service = await services.start()
  const path = join(services.directory(), 'kept.db')
  const nowhere = join(services.directory(), 'nowhere')
  expect((await services.run(['backup', path, '--data-dir', service.dataDir])).code).toBe(0)
  for (const args of [
    ['backup', path, '--data-dir', service.dataDir],
    ['backup', join(nowhere, 'x.db'), '--data-dir', service.dataDir],
    ['backup', `${path}.other`, '--data-dir', nowhere],
    ['restore', path, '--data-dir', service.dataDir],
    ['restore', `${path}.missing`, '--data-dir', nowhere],
    ['backup'],
  ]) {
    const { code, stdout, stderr } = await services.run(args)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/^patchbay: .+\n$/)])
  }
  expect(existsSync(nowhere)).toBe(false)
})

test('where the copy has no room, the fault is of the copy and not of the database, and nothing is left behind', async () => {
  const { dataDir } = await services.start()
  const directory = services.directory()
  const path = join(directory, 'kept.db')
  const { code, stderr } = await services.runWithoutRoom(['backup', path, '--data-dir', dataDir])
  expect([code, stderr]).toEqual([1, expect.stringContaining(path)])
  expect(stderr).not.toContain(dataDir)
  expect(readdirSync(directory)).toEqual([])
})

test('exit 2 naming the file if what is to be restored is not a backup', async () => {
  const path = join(services.directory(), 'notes.txt')
  writeFileSync(path, 'no database')
  const { code, stderr } = await services.run(['restore', path, '--data-dir', join(services.directory(), 'from-notes')])
  expect([code, stderr]).toEqual([2, `patchbay: The file ${path} is no backup of Patchbay, or it is damaged.\n`])
})

test('without the root secret, a restored database says which file is missing', async () => {
  const service = await services.start()
  const path = join(services.directory(), 'kept.db')
  const restored = join(services.directory(), 'data')
  await services.run(['backup', path, '--data-dir', service.dataDir])
  await services.run(['restore', path, '--data-dir', restored])
  const { code, stderr } = await services.run(['serve', '--port', '0', '--data-dir', restored])
  expect([code, stderr]).toEqual([2, expect.stringContaining(join(restored, 'secret'))])
})
