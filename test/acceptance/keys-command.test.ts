/** `patchbay keys …`, beside the running service and without one (docs/contract/operating.md#keys-in-the-shell). */
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'

import { call, createKey, infer } from '../support/calls.ts'
import { until, useServices } from '../support/started-service.ts'

const services = useServices()
const PROGRAM = join(import.meta.dir, '../../bin/patchbay')

const service = await services.start()

const keys = (...args: readonly string[]) => services.run(['keys', ...args, '--data-dir', service.dataDir])

const echo = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello!' }] }

const create = async (kind: string, ...more: readonly string[]): Promise<{ key: string; hash: string }> => {
  const { stdout } = await keys('create', '--kind', kind, '--name', 'From the shell', '--json', ...more)
  return JSON.parse(stdout) as { key: string; hash: string }
}

const status = async (key: string): Promise<number> => (await infer(service, echo, { key })).status

describe('create', () => {
  test('prints only the key on stdout, and it works at the running service soon', async () => {
    const { code, stdout, stderr } = await keys('create', '--kind', 'inference', '--name', 'Plain')
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^shown this once; hash [a-f0-9]{64}\n$/) })
    expect(stdout).toMatch(/^pb_inf_[0-9A-Za-z]+\n$/)
    await until(async () => (await status(stdout.trim())) === 200, 'the new key')
  })

  test('--json prints the key with its resource', async () => {
    const { stdout } = await keys(
      'create',
      '--kind=inference',
      '--name=Limited',
      '--limit-usd=12.5',
      '--limit-reset=weekly',
      '--expires=2099-01-31T00:00:00Z',
      '--provider-failure=status',
      '--json',
    )
    expect(JSON.parse(stdout)).toMatchObject({
      key: expect.stringMatching(/^pb_inf_/),
      hash: expect.stringMatching(/^[a-f0-9]{64}$/),
      name: 'Limited',
      limit: 12.5,
      limit_reset: 'weekly',
      expires_at: expect.stringMatching(/^2099-01-31T00:00:00(?:\.000)?Z$/),
      provider_failure: 'status',
    })
  })

  test('a management key manages and does not call models', async () => {
    const { key } = await create('management')
    await until(async () => (await call(service, 'GET', '/presets', { key })).status === 200, 'the new key')
    expect(await status(key)).toBe(403)
  })

  test('401: a key from the instant of its expiry, even if it was accepted a moment before', async () => {
    const startMs = Date.now()
    await create('inference')
    // Twice as long as creation takes on this machine, plus time for a request.
    const expiresMs = Date.now() + 2 * (Date.now() - startMs) + 1500
    const { key } = await create('inference', '--expires', new Date(expiresMs).toISOString())
    await until(async () => (await status(key)) === 200, 'the new key')
    await until(async () => (await status(key)) === 401, 'the expiry')
    expect(Date.now()).toBeGreaterThanOrEqual(expiresMs)
  })
})

test('exit 2: the error names each wrong flag, even if there are several', async () => {
  const wrong = await keys('create', '--kind', 'inference', '--name', '', '--limit-usd', '-1')
  expect([wrong.code, wrong.stderr]).toEqual([2, 'patchbay: --name: Write a name that is not blank; --limit-usd: Must be at least 0.\n'])
  const past = await keys('create', '--kind', 'inference', '--name', 'x', '--expires', '2020-01-01T00:00:00Z')
  const endless = await keys('create', '--kind', 'inference', '--name', 'x', '--limit-reset', 'daily')
  expect([endless.code, endless.stderr]).toEqual([2, 'patchbay: --limit-reset needs --limit-usd: there is no limit to reset.\n'])
  expect([past.code, past.stderr]).toEqual([2, 'patchbay: --expires: The time has passed. Use a later one.\n'])
})

describe('list', () => {
  test('shows every key by its hash, and never the key itself', async () => {
    const { key, hash } = await create('inference')
    const plain = await keys('list')
    expect(plain.code).toBe(0)
    expect(plain.stdout).toContain(hash)
    for (const secret of [key, service.managementKey, service.inferenceKey]) expect(plain.stdout).not.toContain(secret)
    const lines = (await keys('list', '--json')).stdout.trimEnd().split('\n')
    const listed = lines.map((line) => JSON.parse(line) as { hash: string; name: string; kind: string; disabled: boolean })
    expect(listed.find((each) => each.hash === hash)).toMatchObject({ name: 'From the shell', kind: 'inference', disabled: false })
  })
})

test('a list has every key, however many there are', async () => {
  const names = Array.from({ length: 101 }, (_, at) => `of many ${at}`)
  await Promise.all(names.map((name) => createKey(service, { name })))
  const listed = (await keys('list', '--json')).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string })
  expect(new Set(listed.map(({ name }) => name)).isSupersetOf(new Set(names))).toBe(true)
})

test('a name that holds line breaks or escape sequences, from before such names were refused, stays one plain line of the list', async () => {
  const { json } = await call(service, 'POST', '/keys', { body: { name: 'two lines' } })
  const { hash } = (json as { data: { hash: string } }).data
  const database = new Database(join(service.dataDir, 'patchbay.db'))
  database.run('update api_keys set name = ? where hash = ?', ['two\n\u001b[2Jlines', hash])
  database.close()
  expect((await call(service, 'GET', `/keys/${hash}`)).json).toMatchObject({ data: { name: 'two\n\u001b[2Jlines' } })
  expect((await call(service, 'PATCH', `/keys/${hash}`, { body: { disabled: true } })).status).toBe(200)
  const { stdout } = await keys('list')
  expect(stdout).not.toContain('\u001b')
  expect(stdout.split('\n').filter((line) => line.includes('lines'))).toEqual([expect.stringMatching(/^[a-f0-9]{64} .* two \[2Jlines$/)])
})

describe('revoke', () => {
  test('401: within a second at the running service, even if it had just accepted the key', async () => {
    const { key, hash } = await create('inference')
    await until(async () => (await status(key)) === 200, 'the new key')
    const { code } = await keys('revoke', hash)
    expect(code).toBe(0)
    await until(async () => (await status(key)) === 401, 'the refusal')
    const refused = await infer(service, echo, { key })
    expect(refused.error.metadata).toMatchObject({ error_type: 'authentication' })
    expect(refused.error.message).not.toBe('Missing Authentication header')
  })

  test('401: at once if the service itself revokes the key', async () => {
    const created = (await call(service, 'POST', '/keys', { body: { name: 'Short-lived' } })).json as {
      key: string
      data: { hash: string }
    }
    expect(await status(created.key)).toBe(200)
    expect((await call(service, 'PATCH', `/keys/${created.data.hash}`, { body: { disabled: true } })).status).toBe(200)
    expect(await status(created.key)).toBe(401)
    await call(service, 'PATCH', `/keys/${created.data.hash}`, { body: { disabled: false } })
    expect(await status(created.key)).toBe(200)
    expect((await call(service, 'DELETE', `/keys/${created.data.hash}`)).json).toEqual({ deleted: true })
    expect(await status(created.key)).toBe(401)
  })
})

test('without a service running, on a new data directory: the key works once it runs', async () => {
  const dataDir = `${services.directory()}/data`
  const { stdout } = await services.run(['keys', 'create', '--kind', 'management', '--name', 'First', '--data-dir', dataDir])
  const started = await services.start({ dataDir })
  expect((await call(started, 'GET', '/presets', { key: stdout.trim() })).status).toBe(200)
})

test.each([
  ['a full disk', '>/dev/full', 'ENOSPC'],
  ['a closed output', '>&-', 'EBADF'],
])('exit 1, and the key is revoked, if nobody can have seen it: %s', async (_, redirection, code) => {
  if (redirection === '>/dev/full' && !existsSync('/dev/full')) return
  const create = ['keys', 'create', '--kind', 'management', '--name', `Unseen ${code}`, '--data-dir', service.dataDir]
  const { status: exited, stderr } = spawnSync('/bin/sh', ['-c', `exec "$0" "$@" ${redirection}`, PROGRAM, ...create], { encoding: 'utf8' })
  expect([exited, stderr]).toEqual([
    1,
    `nobody reads the standard output: the key is taken back\npatchbay: the output cannot be written (${code}).\n`,
  ])
  expect((await keys('list')).stdout).not.toContain(`Unseen ${code}`)
})

describe('exit 2, and nothing is done, if the configuration file of a command is invalid', () => {
  const VERBS = [
    'keys list',
    'keys create --kind inference --name x',
    `keys revoke ${'0'.repeat(64)}`,
    'secret rotate',
    'secret retire',
    'credits add 1',
    'credits show',
    'ledger audit',
    'catalogue show',
    'catalogue forget litellm',
    'login',
    'backup nowhere',
    'restore nowhere',
  ]

  test.each(VERBS)('%s', async (verb) => {
    const config = `${services.directory()}/broken.yaml`
    writeFileSync(config, 'a: [')
    const { code, stdout, stderr } = await services.run([...verb.split(' '), '--data-dir', service.dataDir, '--config', config])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(new RegExp(`^patchbay: ${config}: not valid YAML at line 1, [^\\n]+\\n$`))
  })

  test('a configuration file that does not exist or cannot be valid is refused too', async () => {
    const missing = await keys('list', '--config', 'nofile.yaml')
    expect([missing.code, missing.stderr]).toEqual([2, 'patchbay: nofile.yaml: the configuration file cannot be read (ENOENT).\n'])
    const config = `${services.directory()}/wrong.yaml`
    writeFileSync(config, 'sandbox: perhaps\n')
    const wrong = await keys('list', '--config', config)
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining(`${config}: sandbox: `)])
  })

  test('a variable of it that this shell does not have is no fault, because no command of keys needs it', async () => {
    const config = `${services.directory()}/open.yaml`
    writeFileSync(config, 'providers: { x: { dialects: [openai-chat], base_url: "${NO_SUCH_URL}", api_key: "${NO_SUCH_KEY}" } }\n')
    expect((await keys('list', '--config', config)).code).toBe(0)
  })
})

describe('what a key may do', () => {
  const inferencePaths = ['/chat/completions', '/responses', '/messages']
  const managementPaths = ['GET /presets', 'GET /keys', 'POST /keys', 'GET /presets/x', 'PATCH /presets/x', 'DELETE /presets/x']

  test('401: every route without a key, and with a wrong key', async () => {
    for (const route of [
      ...inferencePaths.map((path) => `POST ${path}`),
      ...managementPaths,
      'GET /models',
      'GET /key',
      'GET /generation?id=x',
    ]) {
      const [method = '', path = ''] = route.split(' ')
      const missing = await call(service, method, path, { key: null })
      expect([route, missing.status]).toEqual([route, 401])
      expect(missing.text).toContain('Missing Authentication header')
      const wrong = await call(service, method, path, {
        key: service.managementKey.slice(0, -1) + (service.managementKey.endsWith('0') ? '1' : '0'),
      })
      expect([route, wrong.status]).toEqual([route, 401])
      expect(wrong.text).not.toContain('Missing Authentication header')
    }
  })

  test('403: management routes with an inference key', async () => {
    for (const route of managementPaths) {
      const [method = '', path = ''] = route.split(' ')
      const answer = await call(service, method, path, { key: service.inferenceKey })
      expect(answer.error).toMatchObject({ code: 403, message: 'Only management keys can perform this operation' })
    }
  })

  for (const authorization of ['Basic abc', 'Bearer', 'Bearer ', '', `Bearer ${'x'.repeat(10_000)}`]) {
    test(`401: Authorization ${JSON.stringify(authorization.slice(0, 20))}`, async () => {
      const answer = await call(service, 'GET', '/presets', { key: null, headers: { authorization } })
      expect(answer.status).toBe(401)
      expect(answer.error.code).toBe(401)
    })
  }
})
