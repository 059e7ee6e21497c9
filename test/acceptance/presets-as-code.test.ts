/** `patchbay presets pull|diff|push|apply` (docs/contract/presets.md#as-code). */
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { describe, expect, test } from 'bun:test'

import { call } from '../support/calls.ts'
import { openPipe, runInto } from '../support/leaving-reader.ts'
import { startBehind } from '../support/service-behind.ts'
import { useServices } from '../support/started-service.ts'

const services = useServices()

const service = await services.start()

const env = (more: Record<string, string> = {}) => ({ PATCHBAY_URL: service.url, PATCHBAY_MANAGEMENT_KEY: service.managementKey, ...more })

const presets = (verb: string, directory: string, ...flags: readonly string[]) =>
  services.run(['presets', verb, directory, ...flags], env())

const save = async (slug: string, body: object): Promise<void> => {
  expect((await call(service, 'POST', `/presets/${slug}/chat/completions`, { body })).status).toBe(200)
}

const config = async (slug: string): Promise<Record<string, unknown>> => {
  const { data } = (await call(service, 'GET', `/presets/${slug}`)).json as {
    data: { designated_version: { config: Record<string, unknown> } }
  }
  return data.designated_version.config
}

const system = (content: string) => [{ role: 'system', content }]

const edit = (path: string, from: string, to: string): void => {
  const text = readFileSync(path, 'utf8')
  expect(text).toContain(from)
  writeFileSync(path, text.replace(from, to))
}

describe('pull, edit, push', () => {
  const directory = (): string => join(services.directory(), 'presets')

  test('writes one file a preset, in a stable order, and sends only what was edited', async () => {
    await save('as-code', { temperature: 0.2, model: 'sandbox/echo', messages: system('You answer briefly.\nYou are polite.') })
    const path = directory()
    expect((await presets('pull', path)).code).toBe(0)
    expect(readFileSync(join(path, 'as-code.yaml'), 'utf8')).toBe(`slug: as-code
shape: chat
system_prompt: |-
  You answer briefly.
  You are polite.
config:
  model: sandbox/echo
  temperature: 0.2
`)
    expect(await presets('diff', path)).toMatchObject({ code: 0, stdout: `in step with ${service.url}\n` })
    edit(join(path, 'as-code.yaml'), 'temperature: 0.2', 'temperature: 0.7 # warmer')
    const diff = await presets('diff', path)
    expect(diff.code).toBe(1)
    expect(diff.stdout).toBe('changed here: preset as-code (as-code.yaml)\n  config.temperature\n    - 0.2\n    + 0.7\n')
    expect((await presets('push', path, '--dry-run')).stdout).toBe('would be changed: preset as-code\n')
    expect(await config('as-code')).toMatchObject({ temperature: 0.2 })
    expect(await presets('push', path, '--label', 'production')).toMatchObject({ code: 0, stdout: 'changed: preset as-code\n' })
    expect(await config('as-code')).toEqual({ model: 'sandbox/echo', temperature: 0.7 })
    const { data } = (await call(service, 'GET', '/presets/as-code')).json as { data: { labels: object } }
    expect(data.labels).toEqual({ production: 2 })
    const before = readFileSync(join(path, 'as-code.yaml'), 'utf8')
    expect((await presets('pull', path)).code).toBe(0)
    expect(readFileSync(join(path, 'as-code.yaml'), 'utf8')).toBe(before)
    expect((await presets('push', path)).stdout).toBe(`nothing to send: in step with ${service.url}\n`)
  })

  test('exit 1 and nothing sent: both sides changed the same field; changes of different fields are joined by pull', async () => {
    await save('both', { model: 'sandbox/echo', temperature: 0.1, top_p: 0.5 })
    await save('calm', { model: 'sandbox/echo' })
    const path = directory()
    await presets('pull', path)
    const file = join(path, 'both.yaml')
    edit(file, 'temperature: 0.1', 'temperature: 0.9 # mine')
    edit(join(path, 'calm.yaml'), 'model: sandbox/echo', 'model: sandbox/lorem')
    await save('both', { model: 'sandbox/echo', temperature: 0.1, top_p: 0.8 })
    const refused = await presets('push', path)
    expect(refused).toMatchObject({ code: 1, stderr: 'patchbay: nothing was sent: pull first, or send the files with apply.\n' })
    expect(refused.stdout).toContain('changed on both sides: preset both (both.yaml)')
    expect(await config('calm')).toEqual({ model: 'sandbox/echo' })
    const joined = await presets('pull', path)
    expect(joined.code).toBe(0)
    expect(joined.stdout).toContain('joined: preset both\n')
    expect(readFileSync(file, 'utf8')).toContain('temperature: 0.9 # mine\n  top_p: 0.8\n')
    expect((await presets('push', path)).code).toBe(0)
    expect(await config('both')).toEqual({ model: 'sandbox/echo', temperature: 0.9, top_p: 0.8 })
    expect(await config('calm')).toEqual({ model: 'sandbox/lorem' })

    edit(file, 'temperature: 0.9', 'temperature: 0.3')
    await save('both', { model: 'sandbox/echo', temperature: 0.4, top_p: 0.8 })
    const pulled = await presets('pull', path)
    expect(pulled.code).toBe(1)
    expect(pulled.stdout).toContain('  both changed config.temperature\n')
    expect(readFileSync(file, 'utf8')).toContain('temperature: 0.3')
    expect((await presets('apply', path)).code).toBe(0)
    expect(await config('both')).toMatchObject({ temperature: 0.3 })
  })

  test('a file for which there is no room stays as it was, or is not made, so that no part of a prompt is ever sent', async () => {
    const [path, long] = [directory(), system('Be kind. '.repeat(10_000))]
    await save('roomless', { model: 'sandbox/echo', messages: system('Be brief.') })
    await presets('pull', path)
    const file = join(path, 'roomless.yaml')
    writeFileSync(file, `# Mine.\n${readFileSync(file, 'utf8')}`)
    const before = readFileSync(file, 'utf8')
    await save('roomless', { model: 'sandbox/echo', messages: long })
    const pull = (): ReturnType<typeof presets> => services.runWithoutRoom(['presets', 'pull', path], env())
    expect(await pull()).toMatchObject({ code: 2, stderr: `patchbay: ${file} cannot be read or written (EFBIG).\n` })
    expect(readFileSync(file, 'utf8')).toBe(before)
    rmSync(file)
    expect((await presets('pull', path, '--force')).code).toBe(0)
    rmSync(file)
    expect((await services.runWithoutRoom(['presets', 'pull', path, '--force'], env())).code).toBe(2)
    expect(existsSync(file)).toBe(false)
    await call(service, 'DELETE', '/presets/roomless')
  })

  test('a push with --no-designate saves a draft with its label and its note, and serves what was served', async () => {
    await save('drafted', { model: 'sandbox/echo', temperature: 0.1 })
    const path = directory()
    await presets('pull', path)
    edit(join(path, 'drafted.yaml'), 'temperature: 0.1', 'temperature: 0.5')
    expect((await presets('push', path, '--no-designate', '--label', 'staging', '--note', 'wärmer')).code).toBe(0)
    expect(await config('drafted')).toMatchObject({ temperature: 0.1 })
    expect((await call(service, 'GET', '/presets/drafted')).json).toMatchObject({ data: { labels: { staging: 2 } } })
    expect((await call(service, 'GET', '/presets/drafted/versions/2')).json).toMatchObject({
      data: { config: { temperature: 0.5 }, note: 'wärmer' },
    })
    expect((await presets('diff', path)).stdout).toContain('changed here: preset drafted')
  })

  test('a preset whose model does not exist here is pushed, and the warning of the service is shown', async () => {
    await save('mistyped', { model: 'sandbox/echo' })
    const path = directory()
    await presets('pull', path)
    edit(join(path, 'mistyped.yaml'), 'sandbox/echo', 'sandbox/ehco')
    expect(await presets('push', path)).toMatchObject({
      code: 0,
      stdout: 'changed: preset mistyped\n',
      stderr: expect.stringContaining('mistyped: model: The model "sandbox/ehco" does not exist here'),
    })
  })

  test('exit 2, and nothing is sent: a label that no version can have', async () => {
    await save('labelled', { model: 'sandbox/echo', temperature: 0.1 })
    const path = directory()
    await presets('pull', path)
    edit(join(path, 'labelled.yaml'), 'temperature: 0.1', 'temperature: 0.2')
    for (const verb of ['push', 'apply']) {
      expect(await presets(verb, path, '--label', '3')).toMatchObject({
        code: 2,
        stdout: '',
        stderr: 'patchbay: --label "3" is no label: Start with a letter or _, then letters, digits, . _ -.\n',
      })
    }
    expect(await config('labelled')).toMatchObject({ temperature: 0.1 })
  })

  test('a label that the workspace refuses is exit 1, and the next edit of the file is no conflict', async () => {
    const { data } = (await call(service, 'GET', '/workspaces/default')).json as { data: { id: string } }
    const protect = (protected_labels: readonly string[]) =>
      call(service, 'PATCH', `/workspaces/${data.id}`, { body: { protected_labels } })
    expect((await protect(['guarded'])).status).toBe(200)
    await save('refused-label', { model: 'sandbox/echo', temperature: 0.1 })
    const path = directory()
    await presets('pull', path)
    const file = join(path, 'refused-label.yaml')
    edit(file, 'temperature: 0.1', 'temperature: 0.2')
    const refused = await presets('push', path, '--label', 'guarded')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('the workspace protects guarded') })
    edit(file, 'temperature: 0.2', 'temperature: 0.3')
    expect(await presets('push', path)).toMatchObject({ code: 0, stdout: 'changed: preset refused-label\n' })
    expect(await config('refused-label')).toMatchObject({ temperature: 0.3 })
    await protect([])
  })

  test('reports drift, leaves it alone on push, and takes it back on apply', async () => {
    await save('drifting', { model: 'sandbox/echo', temperature: 0.1 })
    const path = directory()
    await presets('pull', path)
    await save('drifting', { model: 'sandbox/echo', temperature: 0.2 })
    expect((await presets('diff', path)).stdout).toContain('changed on the service: preset drifting')
    expect((await presets('push', path)).stdout).toContain('changed on the service, left alone: preset drifting')
    expect(await config('drifting')).toMatchObject({ temperature: 0.2 })
    await presets('apply', path)
    expect(await config('drifting')).toMatchObject({ temperature: 0.1 })
  })

  test('a new file makes a preset, and a file that is gone archives one, with --prune alone', async () => {
    const path = directory()
    await presets('pull', path)
    writeFileSync(join(path, 'fresh.json'), JSON.stringify({ shape: 'responses', system_prompt: 'Hi.', config: { model: 'sandbox/echo' } }))
    expect((await presets('push', path)).stdout).toContain('made: preset fresh\n')
    rmSync(join(path, 'fresh.json'))
    expect((await presets('push', path)).stdout).toContain('has no file: preset fresh; --prune archives it\n')
    expect((await presets('push', path, '--prune')).stdout).toContain('archived: preset fresh\n')
    expect((await call(service, 'GET', '/presets/fresh')).json).toMatchObject({ data: { status: 'archived' } })
    expect((await presets('diff', path)).code).toBe(0)
    writeFileSync(join(path, 'fresh.json'), JSON.stringify({ shape: 'responses', config: { model: 'sandbox/lorem' } }))
    expect((await presets('push', path)).stdout).toContain('made: preset fresh\n')
    expect((await call(service, 'GET', '/presets/fresh')).json).toMatchObject({ data: { status: 'active' } })
    await call(service, 'DELETE', '/presets/fresh')
    expect((await presets('push', path)).stdout).toContain(
      'deleted on the service, left alone: preset fresh; "pull --prune" deletes the file',
    )
  })

  test('a dry run changes neither files nor the service, and --prune deletes no file that was edited', async () => {
    for (const slug of ['gone', 'gone-too', 'dry']) await save(slug, { model: 'sandbox/echo', temperature: 0.1 })
    const path = directory()
    await presets('pull', path)
    for (const slug of ['gone', 'gone-too']) await call(service, 'DELETE', `/presets/${slug}`)
    await save('dry', { model: 'sandbox/echo', temperature: 0.2 })
    const filesOf = () => readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'utf8')])
    const before = filesOf()
    const dry = await presets('pull', path, '--prune', '--dry-run')
    expect(dry.code).toBe(0)
    expect(dry.stdout).toContain('would be deleted: preset gone\n')
    expect(dry.stdout).toContain('would be changed: preset dry\n')
    expect(filesOf()).toEqual(before)
    edit(join(path, 'gone.yaml'), 'temperature: 0.1', 'temperature: 0.5')
    const pulled = await presets('pull', path, '--prune')
    expect(pulled.code).toBe(1)
    expect(pulled.stdout).toContain('deleted: preset gone-too\n')
    expect([existsSync(join(path, 'gone.yaml')), existsSync(join(path, 'gone-too.yaml'))]).toEqual([true, false])
    rmSync(join(path, 'gone.yaml'))
    rmSync(join(path, 'dry.yaml'))
    expect((await presets('apply', path, '--prune', '--dry-run')).stdout).toContain('would be archived: preset dry\n')
    expect((await call(service, 'GET', '/presets/dry')).json).toMatchObject({
      data: { status: 'active', designated_version: { config: { temperature: 0.2 } } },
    })
  })

  test('files of one service that are sent to another keep what they had in common with the first', async () => {
    await save('moved', { model: 'sandbox/echo', temperature: 0.1 })
    const path = join(services.directory(), 'moved')
    await presets('pull', path)
    const [lock, other] = [readFileSync(join(path, '.patchbay-lock.json'), 'utf8'), await services.start()]
    const elsewhere = (verb: string) =>
      services.run(['presets', verb, path], { PATCHBAY_URL: other.url, PATCHBAY_MANAGEMENT_KEY: other.managementKey })
    const pushed = await elsewhere('push')
    expect(pushed).toMatchObject({ code: 0, stdout: expect.stringContaining('made: preset moved\n') })
    expect(pushed.stderr).toContain(`the files were pulled from ${service.url}`)
    expect((await elsewhere('diff')).code).toBe(0)
    expect(readFileSync(join(path, '.patchbay-lock.json'), 'utf8')).toBe(lock)
  })

  test('exit 2, and nothing is sent: two files of one preset; exit 1: a variable that is empty', async () => {
    const path = join(services.directory(), 'twice')
    mkdirSync(path)
    for (const name of ['a.yaml', 'b.json']) writeFileSync(join(path, name), '{"slug": "twice", "config": {"model": "sandbox/echo"}}')
    expect(await presets('push', path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${join(path, 'b.json')}: ${join(path, 'a.yaml')} is of the same preset (twice).`),
    })
    rmSync(join(path, 'b.json'))
    const tool = { type: 'mcp', server_label: 'm', server_url: 'https://m.example/mcp', authorization: '${EMPTY_TOKEN}' }
    writeFileSync(
      join(path, 'a.yaml'),
      JSON.stringify({ slug: 'twice', shape: 'responses', config: { model: 'sandbox/echo', tools: [tool] } }),
    )
    expect(await services.run(['presets', 'push', path], env({ EMPTY_TOKEN: '' }))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the variable EMPTY_TOKEN is not set'),
    })
    expect((await call(service, 'GET', '/presets/twice')).status).toBe(404)
  })

  test('a linked file is a file: --prune keeps its preset, pull writes through it, and a link that leads nowhere is exit 2', async () => {
    await save('linked', { model: 'sandbox/echo', temperature: 0.1 })
    const path = directory()
    await presets('pull', path)
    const [file, target] = [join(path, 'linked.yaml'), join(services.directory(), 'elsewhere.yaml')]
    renameSync(file, target)
    symlinkSync(target, file)
    edit(target, 'temperature: 0.1', 'temperature: 0.2')
    expect(await presets('apply', path, '--prune')).toMatchObject({ code: 0, stdout: 'changed: preset linked\n' })
    expect(await config('linked')).toMatchObject({ temperature: 0.2 })
    await save('linked', { model: 'sandbox/echo', temperature: 0.3 })
    expect(await presets('pull', path)).toMatchObject({ code: 0 })
    expect(readFileSync(target, 'utf8')).toContain('temperature: 0.3')
    rmSync(target)
    expect(await presets('apply', path, '--prune')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `patchbay: ${file} cannot be read or written (ENOENT).\n`,
    })
  })

  test('a credential never reaches a file, comes back from the service, and goes to no other host', async () => {
    const mcp = (url: string) => ({ type: 'mcp', server_label: 'crm', server_url: url, authorization: 'crm-secret-1234567890' })
    expect(
      (
        await call(service, 'POST', '/presets/secretive/responses', {
          body: { model: 'sandbox/echo', tools: [mcp('https://crm.example/mcp')] },
        })
      ).status,
    ).toBe(200)
    const path = directory()
    await presets('pull', path)
    const all = readdirSync(path).map((name) => readFileSync(join(path, name), 'utf8'))
    expect(all.join('\n')).not.toContain('crm-secret')
    const file = join(path, 'secretive.yaml')
    edit(file, 'model: sandbox/echo', 'model: sandbox/lorem')
    expect((await presets('push', path)).code).toBe(0)
    expect(await config('secretive')).toEqual({ model: 'sandbox/lorem', tools: [mcp('https://crm.example/mcp')] })
    edit(file, 'https://crm.example/mcp', 'https://evil.example/mcp')
    const refused = await presets('push', path)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('the service has no credential for this tool') })
    edit(file, '${kept}', '${CRM_TOKEN}')
    expect((await services.run(['presets', 'push', path], env({ CRM_TOKEN: 'other-secret-123' }))).code).toBe(0)
    expect(JSON.stringify(await config('secretive'))).toContain('other-secret-123')
  })

  test('from a variable is in step once it was sent, and is sent again when the variable has another value', async () => {
    const mcp = { type: 'mcp', server_label: 'shop', server_url: 'https://shop.example/mcp', authorization: 'first-secret-123' }
    const body = { model: 'sandbox/echo', temperature: 0.2, tools: [mcp] }
    await call(service, 'POST', '/presets/variable/responses', { body })
    const path = join(services.directory(), 'variables')
    expect((await presets('pull', path)).code).toBe(0)
    const file = join(path, 'variable.yaml')
    edit(file, '${kept}', '${SHOP_TOKEN}')
    const withToken = (verb: string, token: string) => services.run(['presets', verb, path], env({ SHOP_TOKEN: token }))
    expect((await withToken('push', 'second-secret-123')).code).toBe(0)
    expect(JSON.stringify(await config('variable'))).toContain('second-secret-123')
    const inStep = `in step with ${service.url}\n`
    expect(await withToken('diff', 'second-secret-123')).toMatchObject({ code: 0, stdout: inStep })
    expect(await presets('diff', path)).toMatchObject({ code: 0, stdout: inStep })
    expect(await withToken('apply', 'second-secret-123')).toMatchObject({ code: 0, stdout: `nothing to send: ${inStep}` })

    const changed = { ...body, temperature: 0.7, tools: [{ ...mcp, authorization: 'second-secret-123' }] }
    await call(service, 'POST', '/presets/variable/responses', { body: changed })
    expect(await presets('push', path)).toMatchObject({ code: 0, stdout: expect.stringMatching(/left alone: .*\nnothing to send\n$/) })
    expect((await presets('pull', path)).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain('temperature: 0.7')
    expect(readFileSync(file, 'utf8')).toContain('${SHOP_TOKEN}')

    expect((await withToken('push', 'third-secret-123')).stdout).toContain('changed: preset variable')
    expect(JSON.stringify(await config('variable'))).toContain('third-secret-123')
  })
})

test('guardrails, limits of keys and budgets come along with --with, and go back', async () => {
  await call(service, 'POST', '/guardrails', {
    body: {
      name: 'No secrets',
      content_filter_builtins: [{ slug: 'secrets', action: 'redact' }],
      enforce_zdr: true,
      limit_usd: 5,
      reset_interval: 'daily',
    },
  })
  const { data: workspace } = (await call(service, 'GET', '/key')).json as { data: { workspace_id: string } }
  await call(service, 'PUT', `/workspaces/${workspace.workspace_id}/budgets/daily`, { body: { limit_usd: 10 } })
  const path = join(services.directory(), 'all')
  expect((await presets('pull', path, '--with', 'guardrails,keys,budgets')).code).toBe(0)
  expect(readFileSync(join(path, 'guardrails/no-secrets.yaml'), 'utf8')).toBe(`name: No secrets
content_filter_builtins:
  - slug: secrets
    action: redact
enforce_zdr: true
limit_usd: 5
reset_interval: daily
`)
  expect(readFileSync(join(path, 'budgets/daily.yaml'), 'utf8')).toBe('interval: daily\nlimit_usd: 10\n')
  const [key = ''] = readdirSync(join(path, 'keys')).filter((name) => name.startsWith('first-inference-key'))
  edit(join(path, 'guardrails/no-secrets.yaml'), 'action: redact', 'action: block')
  edit(join(path, 'budgets/daily.yaml'), 'limit_usd: 10', 'limit_usd: 12.5')
  writeFileSync(join(path, 'keys', key), `${readFileSync(join(path, 'keys', key), 'utf8')}limit: 3\nlimit_reset: daily\n`)
  // A preset that was pulled once is compared from then on.
  expect((await presets('diff', path)).stdout.match(/^changed here: /gm)).toHaveLength(3)
  expect((await presets('push', path)).code).toBe(0)
  expect((await call(service, 'GET', '/guardrails')).json).toMatchObject({
    data: [{ content_filter_builtins: [{ slug: 'secrets', action: 'block' }] }],
  })
  expect((await call(service, 'GET', `/workspaces/${workspace.workspace_id}/budgets/daily`)).json).toMatchObject({
    data: { limit_usd: 12.5 },
  })
  expect((await presets('diff', path)).code).toBe(0)
  const { data: keys } = (await call(service, 'GET', '/keys')).json as { data: { name: string; limit: number | null }[] }
  expect(keys.find(({ name }) => name === 'First inference key')).toMatchObject({ limit: 3, limit_reset: 'daily' })
})

describe('exit 1, nothing further is done, and no conflict afterwards: the reader of the output leaves, as `| head -1` does', () => {
  /** Runs the command with a reader that leaves before this request. */
  const runLeft = async (verb: string, path: string, request: string): Promise<string> => {
    const { stdout, leave } = openPipe(`${path}-output`)
    let isThere = true
    const url = startBehind(service.url, (asked) => {
      if (asked !== request || !isThere) return
      isThere = false
      leave()
    })
    const ended = await runInto(stdout, ['presets', verb, path], env({ PATCHBAY_URL: url }))
    expect(ended).toEqual({ code: 1, stderr: 'patchbay: the output cannot be written (EPIPE).\n' })
    return url
  }

  test('push', async () => {
    const path = join(services.directory(), 'left')
    mkdirSync(path)
    for (const name of ['left-1', 'left-2']) writeFileSync(join(path, `${name}.yaml`), 'config:\n  model: sandbox/echo\n')
    const url = await runLeft('push', path, 'POST /presets/left-1/chat/completions')
    expect((await call(service, 'GET', '/presets/left-2')).status).toBe(404)
    edit(join(path, 'left-1.yaml'), 'echo', 'lorem')
    const { code, stdout } = await services.run(['presets', 'push', path], env({ PATCHBAY_URL: url }))
    expect([code, stdout]).toEqual([0, expect.stringMatching(/(?:^|\n)changed: preset left-1\nmade: preset left-2\n$/)])
  })

  test('pull', async () => {
    const path = join(services.directory(), 'left')
    const url = await runLeft('pull', path, 'GET /presets')
    const [file = '', ...others] = readdirSync(path).filter((name) => name.endsWith('.yaml'))
    expect(others).toEqual([])
    writeFileSync(join(path, file), `${readFileSync(join(path, file), 'utf8')}description: Edited.\n`)
    const { code, stdout } = await services.run(['presets', 'push', path, '--dry-run'], env({ PATCHBAY_URL: url }))
    expect([code, stdout]).toEqual([0, expect.stringContaining(`would be changed: preset ${file.replace('.yaml', '')}\n`)])
  })
})

test('what is taken out of a file is taken back: a filter of a guardrail, the limit of a key, the flag of a budget; a key without a file stays', async () => {
  for (const name of ['Two names', 'Two-Names'])
    await call(service, 'POST', '/guardrails', {
      body: { name, content_filter_builtins: [{ slug: 'email', action: 'block' }], include_byok_in_budgets: true, limit_usd: 5 },
    })
  const { data: workspace } = (await call(service, 'GET', '/key')).json as { data: { workspace_id: string } }
  const budget = `/workspaces/${workspace.workspace_id}/budgets/weekly`
  expect((await call(service, 'PUT', budget, { body: { limit_usd: 100, include_byok_in_budgets: true } })).status).toBe(200)
  const { json } = await call(service, 'POST', '/keys', { body: { name: 'limited', limit: 3, limit_reset: 'daily' } })
  const { hash } = (json as { data: { hash: string } }).data
  const path = join(services.directory(), 'taken-back')
  expect((await presets('pull', path, '--with', 'guardrails,keys,budgets')).code).toBe(0)
  const files = readdirSync(join(path, 'guardrails')).filter((name) => name.startsWith('two-names'))
  expect(files.toSorted()).toEqual(['two-names-2.yaml', 'two-names.yaml'])
  for (const file of files) {
    const text = readFileSync(join(path, 'guardrails', file), 'utf8')
    writeFileSync(
      join(path, 'guardrails', file),
      text
        .split('\n')
        .filter((line) => line.startsWith('name:'))
        .join('\n'),
    )
  }
  writeFileSync(join(path, 'budgets/weekly.yaml'), 'limit_usd: 100\n')
  const [key = ''] = readdirSync(join(path, 'keys')).filter((name) => name.startsWith('limited'))
  writeFileSync(join(path, 'keys', key), `hash: ${hash}\nname: limited\n`)
  expect((await presets('push', path)).code).toBe(0)
  const { data: guardrails } = (await call(service, 'GET', '/guardrails')).json as { data: { name: string }[] }
  for (const name of ['Two names', 'Two-Names'])
    expect(guardrails.find((one) => one.name === name)).toMatchObject({
      content_filter_builtins: null,
      include_byok_in_budgets: false,
      limit_usd: null,
    })
  expect((await call(service, 'GET', budget)).json).toMatchObject({ data: { limit_usd: 100, include_byok_in_budgets: false } })
  const readKey = async () => (await call(service, 'GET', `/keys/${hash}`)).json
  expect(await readKey()).toMatchObject({ data: { limit: null, limit_reset: null, disabled: false } })
  rmSync(join(path, 'keys', key))
  expect((await presets('push', path, '--prune')).stdout).toContain('has no file, and stays: key limited\n')
  expect(await readKey()).toMatchObject({ data: { name: 'limited' } })
})

test('exit 2 or 1 and a sentence with file and line: what is wrong in a file, a key, an address', async () => {
  const path = join(services.directory(), 'faulty')
  mkdirSync(path)
  const file = join(path, 'bad.yaml')
  writeFileSync(file, 'shape: chat\nconfig:\n  model: sandbox/echo\ntemprature: 1\n')
  expect(await presets('diff', path)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`${file}:4: temprature: Unknown field. Use one of `),
  })
  writeFileSync(file, 'shape: chat\nconfig: [\n')
  expect(await presets('diff', path)).toMatchObject({ code: 2, stderr: expect.stringContaining(`${file}: not valid YAML at line`) })
  writeFileSync(file, 'shape: chat\nconfig:\n  model: sandbox/echo\n  temperature: 9\n')
  expect(await presets('push', path)).toMatchObject({ code: 1, stderr: expect.stringContaining('temperature') })
  writeFileSync(file, 'shape: chat\nconfig:\n  model: sandbox/echo\n  temprature: 1\n')
  expect(await presets('push', path)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      `${file}:4: config.temprature: A preset of the shape chat keeps no such field. Did you mean "temperature"?`,
    ),
  })
  expect((await call(service, 'GET', '/presets/bad')).status).toBe(404)
  rmSync(file)
  expect(await presets('diff', join(path, 'nowhere'))).toMatchObject({ code: 2 })
  const without = await services.run(['presets', 'diff', path], { PATCHBAY_URL: service.url })
  expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('set PATCHBAY_MANAGEMENT_KEY') })
  const wrongKey = await services.run(['presets', 'diff', path], {
    PATCHBAY_URL: service.url,
    PATCHBAY_MANAGEMENT_KEY: service.inferenceKey,
  })
  expect(wrongKey).toMatchObject({ code: 2, stderr: expect.stringContaining('403: Only management keys can perform this operation') })
  const unmade = join(path, 'unmade')
  for (const env of [{ PATCHBAY_URL: 'http://127.0.0.1:9' }, { PATCHBAY_URL: service.url }]) {
    expect((await services.run(['presets', 'pull', unmade], { ...env, PATCHBAY_MANAGEMENT_KEY: 'x' })).code).not.toBe(0)
    expect(existsSync(unmade)).toBe(false)
  }
  const nobody = await services.run(['presets', 'diff', path], { PATCHBAY_URL: 'http://127.0.0.1:9', PATCHBAY_MANAGEMENT_KEY: 'x' })
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('http://127.0.0.1:9 cannot be reached (ECONNREFUSED).') })
  expect(existsSync(join(path, '.patchbay-lock.json'))).toBe(true)
  const broken = await services.run(['presets', 'diff', path], env({ PATCHBAY_MANAGEMENT_KEY: `${service.managementKey}\r` }))
  expect([broken.code, broken.stderr]).toEqual([
    2,
    'patchbay: PATCHBAY_MANAGEMENT_KEY holds a character that no key has, such as a line end.\n',
  ])
  writeFileSync(file, 'shape: chat\n')
  for (const verb of ['pull', 'push']) {
    const sentence = `patchbay: ${file} is a file; name its directory, whose files are sent or written together.\n`
    expect(await presets(verb, file)).toMatchObject({ code: 2, stderr: sentence })
  }
  rmSync(file)
  const noWorkspace = await presets('pull', join(services.directory(), 'pulled'), '--workspace', 'nowhere')
  expect(noWorkspace).toMatchObject({ code: 2, stderr: expect.stringContaining('404: There is no workspace') })
})

test.each([
  ['in a list', '{"data":[{"slug":"bot"}]}', /^\[0\]\.status: \S/],
  ['as a whole', '{"data":[{"slug":"bot","status":"active"}]}', /^[^:.]+: expected object/],
])('exit 1, and one sentence: the service answers in a form that the command does not know, %s', async (_, body, fault) => {
  const other = createServer((_request, response) => void response.end(body)).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const path = join(services.directory(), 'kept-from-other-versions')
  const answer = await services.run(['presets', 'pull', path], env({ PATCHBAY_URL: `http://127.0.0.1:${port}` }))
  other.close()
  const [, said] =
    /^patchbay: the service's answer has a form that this command does not know \((.*)\): are both of one version\?\n$/.exec(
      answer.stderr,
    ) ?? []
  expect([answer.code, said]).toEqual([1, expect.stringMatching(fault)])
})

test.each([
  [200, '{}'],
  [404, '<p>Not found</p>'],
])('exit 1, and no file is touched: another program answers at the address, with %d', async (status, text) => {
  const other = createServer((_, response) => void response.writeHead(status).end(text)).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const path = join(services.directory(), `kept-from-others-${status}`)
  mkdirSync(path)
  writeFileSync(join(path, 'mine.yaml'), 'shape: chat\nconfig:\n  model: sandbox/echo\n')
  const answer = await services.run(['presets', 'pull', path], env({ PATCHBAY_URL: `http://127.0.0.1:${port}` }))
  other.close()
  expect([answer.code, answer.stderr]).toEqual([
    1,
    `patchbay: http://127.0.0.1:${port} does not answer as Patchbay does (status ${status}): is PATCHBAY_URL right?\n`,
  ])
  expect(readdirSync(path)).toEqual(['mine.yaml'])
})

describe('a preset that somebody changes while it is pushed', () => {
  test.each([
    ['before it is read again', 'GET /presets/raced-0', 3, 'run the command again'],
    ['before it is saved', 'POST /presets/raced-1/chat/completions', 1, 'pull first'],
  ])('%s is left as it is: exit 1', async (_, raced, number, advice) => {
    const slug = /raced-\d/.exec(raced)?.[0] ?? ''
    await save(slug, { model: 'sandbox/echo', temperature: 0.1 })
    let seen = 0
    const url = startBehind(service.url, async (request) => {
      if (request === raced && (seen += 1) === number) await save(slug, { model: 'sandbox/echo', temperature: 0.5 })
    })
    const path = join(services.directory(), 'raced')
    expect((await services.run(['presets', 'pull', path], env({ PATCHBAY_URL: url }))).code).toBe(0)
    edit(join(path, `${slug}.yaml`), 'temperature: 0.1', 'temperature: 0.9')
    const { code, stderr } = await services.run(['presets', 'push', path], env({ PATCHBAY_URL: url }))
    expect([code, stderr]).toEqual([1, expect.stringContaining('it was changed on the service in this very moment')])
    expect(stderr).toContain(advice)
    expect(await config(slug)).toMatchObject({ temperature: 0.5 })
  })
})
