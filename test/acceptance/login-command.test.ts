/** The link that signs a person in: printed at the first start, and by `patchbay login` (docs/contract/sign-in.md#links). */
import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { call } from '../support/calls.ts'
import { openSession } from '../support/signed-in.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()

const LINK = /^(http\S+\/dashboard\/)#login=([\w-]{43})\n$/
const dataOf = (json: unknown): Record<string, unknown> => (json as { data: Record<string, unknown> }).data

const login = (service: StartedService, ...flags: string[]) => services.run(['login', '--data-dir', service.dataDir, ...flags])

test('the first start prints the link as its third command, and it signs the operator in; the second start does not', async () => {
  const service = await services.start()
  const [, place, token = ''] = /^\S*open (http\S+)#login=(\S+)$/m.exec(service.stdout()) ?? []
  expect(place).toBe(`${service.url}/dashboard/`)
  expect(service.stdout().trimEnd().split('\n')).toHaveLength(6)
  const opened = await openSession(service, { token })
  expect(dataOf(opened.json)).toMatchObject({ role: 'admin', is_operator: true })
  expect((await openSession(service, { token })).status).toBe(401)
  await service.stop()
  expect((await services.start({ dataDir: service.dataDir })).stdout()).not.toContain('#login=')
})

test('no link is printed if people cannot sign in', async () => {
  const service = await services.start({ config: 'dashboard: false' })
  expect(service.stdout()).not.toContain('#login=')
})

test('patchbay login prints only the link, which leads to the service that runs on this data', async () => {
  const service = await services.start()
  const { code, stdout } = await login(service)
  expect([code, LINK.exec(stdout)?.[1]]).toEqual([0, `${service.url}/dashboard/`])
  const opened = await openSession(service, { token: LINK.exec(stdout)?.[2] ?? '' })
  expect(dataOf(opened.json)).toMatchObject({ role: 'admin', is_operator: true })
})

test('patchbay login --user makes a new person a member, and --role sets a role', async () => {
  const service = await services.start()
  const signIn = async (...flags: string[]) => {
    const { stdout } = await login(service, ...flags)
    return dataOf((await openSession(service, { token: LINK.exec(stdout)?.[2] ?? '' })).json)
  }
  expect(await signIn('--user', 'ada')).toMatchObject({ user_id: 'ada', role: 'member' })
  expect(await signIn('--user', 'ada', '--role', 'admin')).toMatchObject({ user_id: 'ada', role: 'admin' })
  await call(service, 'POST', '/workspaces', { body: { name: 'x', slug: 'search' } })
  expect(await signIn('--user', 'ada', '--workspace', 'search')).toMatchObject({ role: 'member', workspace: { slug: 'search' } })
})

test('patchbay login alone makes the owner an admin again, whom somebody made a member: nobody is locked out', async () => {
  const service = await services.start()
  const signIn = async (...flags: string[]) => {
    const { stdout } = await login(service, ...flags)
    return dataOf((await openSession(service, { token: LINK.exec(stdout)?.[2] ?? '' })).json)
  }
  const { user_id: owner } = await signIn()
  expect(await signIn('--user', String(owner), '--role', 'member')).toMatchObject({ user_id: owner, role: 'member' })
  expect(await signIn()).toMatchObject({ user_id: owner, role: 'admin' })
})

test('exit 2 in one sentence: an unknown role, an unknown workspace, no data, and a file without sign-in', async () => {
  const service = await services.start()
  expect(await login(service, '--role', 'owner')).toMatchObject({ code: 2, stderr: expect.stringContaining('--role') })
  expect(await login(service, '--workspace', 'none')).toMatchObject({ code: 2, stderr: expect.stringContaining('"none"') })
  const nowhere = services.directory()
  expect(await services.run(['login', '--data-dir', `${nowhere}/data`])).toMatchObject({ code: 2, stdout: '' })
  expect(existsSync(`${nowhere}/data`)).toBe(false)
  const off = await services.start({ config: 'dashboard: false' })
  expect(await login(off, '--config', off.configPath)).toMatchObject({ code: 2, stderr: expect.stringContaining('dashboard: false') })
})

test('exit 1 if the output is closed, since nobody can have seen the link', async () => {
  const { dataDir } = await services.start()
  const shell = ['-c', 'exec "$0" "$@" >&-', join(import.meta.dir, '../../bin/patchbay'), 'login', '--data-dir', dataDir]
  const { status, stderr } = spawnSync('/bin/sh', shell, { encoding: 'utf8' })
  expect([status, stderr]).toEqual([1, 'patchbay: the output cannot be written (EBADF).\n'])
})
