/** The process as an operator runs it: starting, stopping, reloading, faults in flags and files (docs/contract/operating.md#process). */
import { spawnSync } from 'node:child_process'
import { closeSync, constants, existsSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'bun:test'

import { call, infer, streamChunks } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { openPipe, runInto } from '../support/leaving-reader.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'
import { patient } from '../support/patience.ts'

const PROGRAM = join(import.meta.dir, '../../bin/patchbay')
const TERMINAL_HOLDER = join(import.meta.dir, '../support/programs/terminal-holder.ts')

const services = useServices()
const upstream = await startFakeUpstream()

const messages = [{ role: 'user', content: 'Hello!' }]

describe('starting', () => {
  test('ready soon, on a port that was free, with one line on stdout', async () => {
    const first = await services.start()
    expect(first.readyMs).toBeLessThan(patient(1000))
    expect(first.stdout()).toMatch(/^patchbay ready http:\/\/127\.0\.0\.1:[1-9]\d+\n/)
    expect(Number(new URL(first.url).port)).toBeGreaterThan(1023)
  })

  test('the very first start prints a key of each kind and three commands to copy; the next start does not', async () => {
    const first = await services.start()
    expect(first.managementKey).toMatch(/^pb_mgmt_[0-9A-Za-z]{43,}$/)
    expect(first.inferenceKey).toMatch(/^pb_inf_[0-9A-Za-z]{43,}$/)
    const commands = first.stdout().trimEnd().split('\n').slice(3)
    expect(commands).toHaveLength(3)
    expect(first.stdout()).not.toContain('\u001B')
    await first.stop()
    const second = await services.start({ dataDir: first.dataDir })
    expect(second.stdout()).toBe(`patchbay ready ${second.url}\n`)
    expect((await call({ ...second, managementKey: first.managementKey }, 'GET', '/presets')).status).toBe(200)
  })

  test('the commands that it prints work as they stand', async () => {
    const service = await services.start()
    const [create = '', use = '', open = ''] = service.stdout().trimEnd().split('\n').slice(3)
    for (const [command, says] of [
      [create, '"designated_version"'],
      [use, 'Hello!'],
    ] as const) {
      const child = Bun.spawn(['sh', '-c', command], { stdout: 'pipe', stderr: 'ignore' })
      expect(await new Response(child.stdout).text()).toContain(says)
      expect(await child.exited).toBe(0)
    }
    const page = /http\S+/.exec(open)?.[0] ?? ''
    expect((await fetch(page)).status).toBe(200)
  })

  test('the root secret is made with mode 0600, in a directory of its own', async () => {
    const { dataDir } = await services.start()
    const secret = join(dataDir, 'secret')
    expect(existsSync(secret)).toBe(true)
    expect(statSync(secret).mode & 0o777).toBe(0o600)
    expect(statSync(dataDir).mode & 0o077).toBe(0)
  })

  test('a root secret of the environment is used, and not written', async () => {
    const env = { PATCHBAY_SECRET: 'a-root-secret-of-more-than-32-bytes!' }
    const first = await services.start({ env })
    expect(existsSync(join(first.dataDir, 'secret'))).toBe(false)
    await first.stop()
    const second = await services.start({ env, dataDir: first.dataDir })
    expect((await call({ ...second, managementKey: first.managementKey }, 'GET', '/presets')).status).toBe(200)
  })

  test('exit 2: a root secret other than the one the data was made with', async () => {
    const first = await services.start({ env: { PATCHBAY_SECRET: 'a-root-secret-of-more-than-32-bytes!' } })
    await first.stop()
    const ended = await services.run(['serve', '--port', '0', '--data-dir', first.dataDir], {
      PATCHBAY_SECRET: 'b-root-secret-of-more-than-32-bytes!',
    })
    checkMisuse(ended, /secret/i)
  })

  test('exit 2: a second service on the same data directory, in a sentence that names it', async () => {
    const first = await services.start()
    const ended = await services.run(['serve', '--port', '0', '--data-dir', first.dataDir])
    checkMisuse(ended, first.dataDir)
    expect((await fetch(`${first.url}/health/ready`)).status).toBe(200)
  })

  test('exit 2: a port that is taken', async () => {
    const first = await services.start()
    const { port } = new URL(first.url)
    checkMisuse(await services.run(['serve', '--port', port, '--data-dir', join(services.directory(), 'data')]), port)
  })

  test('a first start that found its port taken loses no keys: the next one shows them', async () => {
    const first = await services.start()
    const dataDir = join(services.directory(), 'data')
    await services.run(['serve', '--port', new URL(first.url).port, '--data-dir', dataDir])
    const second = await services.start({ dataDir })
    expect([second.managementKey, second.inferenceKey]).toEqual([expect.stringMatching(/^pb_mgmt_/), expect.stringMatching(/^pb_inf_/)])
  })

  test('first keys that nobody could read are taken back, and the next start makes others', async () => {
    const dataDir = join(services.directory(), 'data')
    const { stdout, leave } = openPipe(join(services.directory(), 'unread'))
    leave()
    const child = Bun.spawn([PROGRAM, 'serve', '--port', '0', '--data-dir', dataDir], { stdout, stderr: 'pipe' })
    closeSync(stdout)
    let said = ''
    const reading = (async () => {
      for await (const bytes of child.stderr) said += new TextDecoder().decode(bytes)
    })()
    await until(() => said.includes('taken back'), 'the warning')
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    await reading
    expect(said).not.toContain('serve.ts')
    const next = await services.start({ dataDir })
    expect((await infer(next, { model: 'sandbox/echo', messages })).status).toBe(200)
    const { json } = await call(next, 'GET', '/keys')
    expect((json as { data: unknown[] }).data).toHaveLength(2)
  })

  test('the service starts again after kill -9', async () => {
    const first = await services.start()
    first.signal('SIGKILL')
    await first.exited
    const second = await services.start({ dataDir: first.dataDir })
    expect((await fetch(`${second.url}/health/ready`)).status).toBe(200)
  })
})

describe('exit 2: one sentence that names the fault', () => {
  const flags: Readonly<Record<string, { args: readonly string[]; env?: Readonly<Record<string, string>>; names: string | RegExp }>> = {
    'an unknown flag': { args: ['serve', '--prot', '8080'], names: '--prot' },
    'an unknown verb': { args: ['sevre'], names: 'sevre' },
    'help about an unknown verb': { args: ['help', 'sevre'], names: '"sevre"' },
    'help about an unknown verb of another': { args: ['keys', 'help', 'make'], names: '"keys make"' },
    'a port that is none': { args: ['serve', '--port', 'http'], names: '--port' },
    'a port out of range': { args: ['serve', '--port', '70000'], names: '--port' },
    'a variable that is no port': { args: ['serve'], env: { PATCHBAY_PORT: 'http' }, names: 'PATCHBAY_PORT' },
    'a flag without its value': { args: ['serve', '--port'], names: '--port' },
    'a database that is no URL': { args: ['serve', '--database-url', 'mysql://x'], names: '--database-url' },
    'more workers than SQLite has writers': { args: ['serve', '--port', '0', '--workers', '2'], names: '--workers' },
    'a root secret that is too short': { args: ['serve', '--port', '0'], env: { PATCHBAY_SECRET: 'short' }, names: 'PATCHBAY_SECRET' },
    'a file that is not there': { args: ['serve', '--port', '0', '--config', '/nowhere/patchbay.yaml'], names: '/nowhere/patchbay.yaml' },
    'a data directory that cannot be one': { args: ['serve', '--port', '0', '--data-dir', '/dev/null/data'], names: '/dev/null/data' },
    'a key without a kind': { args: ['keys', 'create', '--name', 'x'], names: '--kind' },
    'a kind that is none': { args: ['keys', 'create', '--name', 'x', '--kind', 'admin'], names: '--kind' },
    'a limit that is no number': {
      args: ['keys', 'create', '--name', 'x', '--kind', 'inference', '--limit-usd', 'lots'],
      names: '--limit-usd',
    },
    'a limit in another notation': {
      args: ['keys', 'create', '--name', 'x', '--kind', 'inference', '--limit-usd', '0x10'],
      names: '--limit-usd',
    },
    'a limit of more than nine decimals': {
      args: ['keys', 'create', '--name', 'x', '--kind', 'inference', '--limit-usd', '0.1234567891'],
      names: /nine decimals/,
    },
    'a credit in another notation': { args: ['credits', 'add', '0x10'], names: 'amount' },
    'an interval that is none': {
      args: ['keys', 'create', '--name', 'x', '--kind', 'inference', '--limit-reset', 'hourly'],
      names: /limit.reset/,
    },
    'an instant that is none': { args: ['keys', 'create', '--name', 'x', '--kind', 'inference', '--expires', 'soon'], names: /expires/ },
    'a hash that is none': { args: ['keys', 'revoke', 'abc'], names: 'hash' },
    'a hash of no key': { args: ['keys', 'revoke', 'a'.repeat(64)], names: /./ },
  }
  for (const [what, { args, env, names }] of Object.entries(flags)) {
    test(what, async () => checkMisuse(await services.run(args, env), names))
  }

  const files: Readonly<Record<string, { text: string; names: string | RegExp }>> = {
    'a misspelt section': { text: 'provders: {}\n', names: 'provders' },
    'a misspelt field': { text: 'providers: { x: { dialects: [openai-chat], base_ulr: "http://127.0.0.1:1" } }\n', names: 'base_ulr' },
    'an unknown dialect': {
      text: 'providers: { x: { dialects: [telex], base_url: "http://127.0.0.1:1" } }\n',
      names: 'providers.x.dialects',
    },
    'an unset variable': {
      text: 'providers: { x: { dialects: [openai-chat], base_url: "http://127.0.0.1:1", api_key: "${NEVER_SET_KEY}" } }\n',
      names: 'NEVER_SET_KEY',
    },
    'a model of a provider that is not there': {
      text: 'models: { a/b: { endpoints: [{ provider: nowhere, model: b }] } }\n',
      names: 'nowhere',
    },
    'YAML that is none': { text: 'providers: [\n', names: 'patchbay.yaml' },
    'a list where a map belongs': { text: '- providers\n', names: 'patchbay.yaml' },
    'a number out of range': { text: 'limits: { max_body_bytes: 1 }\n', names: 'limits.max_body_bytes' },
  }
  for (const [what, { text, names }] of Object.entries(files)) {
    test(`in the file: ${what}`, async () => {
      const directory = services.directory()
      const path = join(directory, 'patchbay.yaml')
      writeFileSync(path, text)
      const ended = await services.run(['serve', '--port', '0', '--data-dir', join(directory, 'data'), '--config', path])
      checkMisuse(ended, names)
      expect(ended.stderr).toContain('patchbay.yaml')
    })
  }

  test('exit 0: help names every flag and variable, version the version', async () => {
    const help = await services.run(['serve', '--help'])
    expect(help.code).toBe(0)
    for (const name of [
      '--host',
      '--port',
      '--data-dir',
      '--config',
      '--database-url',
      '--redis-url',
      '--workers',
      '--drain-seconds',
      'PATCHBAY_PORT',
      'PATCHBAY_SECRET',
    ]) {
      expect(help.stdout).toContain(name)
    }
    for (const words of ['help keys create', 'keys help create']) {
      const shown = await services.run(words.split(' '))
      expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('--limit-reset')])
    }
    expect(await services.run(['help', '--help'])).toEqual(await services.run(['--help']))
    const version = await services.run(['--version'])
    expect(version.code).toBe(0)
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('an output that takes nothing', () => {
  test.skipIf(!existsSync('/dev/full'))('exit 1 and one sentence: a full disk', async () => {
    expect(await runInto(openSync('/dev/full', constants.O_WRONLY), ['--help'])).toEqual({
      code: 1,
      stderr: 'patchbay: the output cannot be written (ENOSPC).\n',
    })
  })

  test('exit 1 without a word: a reader that has left', async () => {
    const { stdout, leave } = openPipe(join(services.directory(), 'left'))
    leave()
    expect(await runInto(stdout, ['--help'])).toEqual({ code: 1, stderr: '' })
  })
})

describe('stopping', () => {
  const slowly = { model: 'sandbox/lorem', messages, stream: true, sandbox: { tokens: 30, delay_ms: 20 } }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`exit 0: ${signal} lets a stream end, and takes no new requests`, async () => {
      const service = await services.start()
      const answer = await startReading(service, slowly)
      service.signal(signal)
      await until(async () => refused(service), 'the end of accepting')
      const text = await answer.rest()
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
      expect(streamChunks(text).flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['stop'])
      expect(await service.exited).toBe(0)
    })
  }

  test('exit 0: at once, when nothing runs', async () => {
    const service = await services.start()
    const startedAt = performance.now()
    expect(await service.stop()).toBe(0)
    expect(performance.now() - startedAt).toBeLessThan(patient(1500))
  })

  test('exit 0: also where the log is a full pipe that nobody reads any more', async () => {
    const path = join(services.directory(), 'log')
    expect(spawnSync('mkfifo', [path]).status).toBe(0)
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const filler = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
    const fill = (): void => {
      for (;;) writeSync(filler, 'x'.repeat(4096))
    }
    expect(fill).toThrow('EAGAIN')
    const stderr = openSync(path, constants.O_WRONLY)
    const service = await services.start({ stderr })
    expect((await infer(service, { model: 'sandbox/echo', messages })).status).toBe(200)
    expect(await service.stop()).toBe(0)
    for (const descriptor of [reader, filler, stderr]) closeSync(descriptor)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('exit 0: %s at once, while a start waits for its database', async (signal) => {
    const asked = Promise.withResolvers<void>()
    const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { open: () => asked.resolve(), data() {} } })
    const url = `postgres://patchbay@127.0.0.1:${silent.port}/patchbay`
    const starting = Bun.spawn([PROGRAM, 'serve', '--port', '0', '--data-dir', services.directory(), '--database-url', url], {
      stdout: 'ignore',
      stderr: 'pipe',
    })
    await asked.promise
    starting.kill(signal)
    expect([await starting.exited, starting.signalCode]).toEqual([0, null])
    expect(await new Response(starting.stderr).text()).toBe('')
    silent.stop(true)
  })

  test('exit 0: a signal that comes with the ready line is heeded', async () => {
    const codes = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const service = await services.start()
        if (index % 2 === 0) service.signal('SIGHUP')
        return service.stop()
      }),
    )
    expect(codes).toEqual(codes.map(() => 0))
  }, 300_000)

  test('--leave-seconds: balancers hear 503 first, and whoever still comes is answered, on a connection that ends', async () => {
    const service = await services.start({ flags: ['--leave-seconds', '3600'] })
    const before = await infer(service, { model: 'sandbox/echo', messages })
    expect([before.status, before.headers.get('connection')]).toEqual([200, null])
    service.signal('SIGTERM')
    await until(async () => (await fetch(`${service.url}/health/ready`)).status === 503, '503 for balancers')
    const startedAt = performance.now()
    for (let count = 0; count < 5; count += 1) {
      const { status, headers } = await infer(service, { model: 'sandbox/echo', messages })
      expect([status, headers.get('connection')]).toEqual([200, 'close'])
    }
    expect((await call(service, 'GET', '/keys')).status).toBe(200)
    const text = await (await startReading(service, slowly)).rest()
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    // A second signal that comes too soon is taken for an echo of the first.
    await Bun.sleep(Math.max(0, 1100 - (performance.now() - startedAt)))
    expect(await service.stop()).toBe(0)
  })

  test('--leave-seconds: after them the service drains, and a stream that began meanwhile ends whole', async () => {
    const service = await services.start({ flags: ['--leave-seconds', '1'] })
    service.signal('SIGTERM')
    const answer = await startReading(service, { ...slowly, sandbox: { tokens: 100, delay_ms: 20 } })
    await until(async () => refused(service), 'the end of accepting')
    expect((await answer.rest()).endsWith('data: [DONE]\n\n')).toBe(true)
    expect(await service.exited).toBe(0)
  })

  test('exit 0: a stream that outlasts the drain ends with an error, never as if it were complete', async () => {
    const service = await services.start({ flags: ['--drain-seconds', '1'] })
    const answer = await startReading(service, { ...slowly, sandbox: { tokens: 1000, delay_ms: 50 } })
    service.signal('SIGTERM')
    const text = await answer.rest()
    const last = streamChunks(text).at(-1)
    expect(last?.choices).toMatchObject([{ finish_reason: 'error' }])
    expect(last?.error).toMatchObject({ code: 503, metadata: { error_type: 'provider_overloaded', retry_after_seconds: 1 } })
    expect(last?.error?.message).toContain('restarting')
    expect(last?.error?.metadata).not.toHaveProperty('provider_name')
    expect(await service.exited).toBe(0)
  })

  test('exit 0: a request that outlasts the drain before anything went out is 503 with Retry-After, and no fault of its provider', async () => {
    const asked = Promise.withResolvers<void>()
    const silent = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch() {
        asked.resolve()
        return new Promise<Response>(() => undefined)
      },
    })
    const config = [
      'providers:',
      `  fake: { name: Fake, dialects: [openai-chat], base_url: "http://127.0.0.1:${silent.port}", api_key: sk-shared-0123456789 }`,
      'models: { fake/one: { endpoints: [{ provider: fake, model: one }] } }',
    ].join('\n')
    try {
      const service = await services.start({ config, flags: ['--drain-seconds', '0'] })
      const answering = infer(service, { model: 'fake/one', messages })
      await asked.promise
      service.signal('SIGTERM')
      const answer = await answering
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
      expect(answer.error.message).toContain('restarting')
      expect(answer.error.metadata).toEqual({ error_type: 'provider_overloaded', retry_after_seconds: 1 })
      expect(await service.exited).toBe(0)
      const next = await services.start({ config, dataDir: service.dataDir })
      const { json } = await call({ ...next, managementKey: service.managementKey }, 'GET', '/providers/health')
      const { data } = json as { data: { slug: string; last_error: unknown; strip: { failed: number }[] }[] }
      const fake = data.find(({ slug }) => slug === 'fake')
      expect([fake?.last_error, fake?.strip.every(({ failed }) => failed === 0)]).toEqual([null, true])
    } finally {
      await silent.stop(true)
    }
  })

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`one ${signal} that arrives three times at once lets a hundred streams end`, async () => {
      const service = await services.start()
      const answers = await Promise.all(Array.from({ length: 100 }, () => startReading(service, slowly)))
      for (let time = 0; time < 3; time += 1) service.signal(signal)
      for (const answer of answers) expect((await answer.rest()).endsWith('data: [DONE]\n\n')).toBe(true)
      expect(await service.exited).toBe(0)
    })
  }

  test('SIGTERM to npx, which ends the shell before the service, lets a stream end and frees the data directory', async () => {
    const dataDir = join(services.directory(), 'data')
    const shell = Bun.spawn(['sh', '-c', '"$0" serve --port 0 --data-dir "$1"; exit', PROGRAM, dataDir], {
      env: { ...process.env, npm_command: 'exec', npm_lifecycle_script: "'patchbay'" },
      stdout: 'pipe',
      stderr: 'ignore',
    })
    let said = ''
    const reading = (async () => {
      for await (const bytes of shell.stdout) said += new TextDecoder().decode(bytes)
    })()
    await until(() => said.includes('#login='), 'the greeting', patient(10_000))
    const found = (pattern: RegExp): string => pattern.exec(said)?.[1] ?? ''
    const [url, inferenceKey] = [found(/ready (http:\/\/[\d.:]+)/), found(/(pb_inf_\w+)/)]
    const answer = await startReading({ api: `${url}/api/v1`, inferenceKey }, slowly)
    shell.kill('SIGTERM')
    await shell.exited
    expect((await answer.rest()).endsWith('data: [DONE]\n\n')).toBe(true)
    // The service held the other end of the pipe until it exited.
    await reading
    expect((await services.start({ dataDir })).stdout()).toMatch(/^patchbay ready /)
  })

  test('exit 0: one Ctrl-C in the terminal of `npm start` lets streams end, though npm sends it on', async () => {
    const directory = services.directory()
    let shown = ''
    const npm = Bun.spawn(['npm', 'start', '--', '--port', '0', '--data-dir', join(directory, 'data')], {
      cwd: join(import.meta.dir, '../..'),
      terminal: { cols: 400, data: (_, bytes) => void (shown += new TextDecoder().decode(bytes)) },
    })
    await until(() => shown.includes('#login='), 'the greeting', patient(10_000))
    const found = (pattern: RegExp): string => pattern.exec(shown)?.[1] ?? ''
    const [url, inferenceKey] = [found(/ready (http:\/\/[\d.:]+)/), found(/(pb_inf_\w+)/)]
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        startReading({ api: `${url}/api/v1`, inferenceKey }, { ...slowly, sandbox: { tokens: 60, delay_ms: 20 } }),
      ),
    )
    npm.terminal?.write('\u0003')
    for (const answer of answers) expect((await answer.rest()).endsWith('data: [DONE]\n\n')).toBe(true)
    expect(await npm.exited).toBe(0)
    expect(shown).toContain('stopping')
  })

  for (const [what, silence] of [
    ['was closed', 'SIGKILL'],
    ['is read by nobody any more', 'SIGSTOP'],
  ] as const) {
    test(`SIGTERM ends a service whose terminal ${what}, with streams open and a full log`, async () => {
      const holder = Bun.spawn([
        process.execPath,
        TERMINAL_HOLDER,
        PROGRAM,
        'serve',
        '--port',
        '0',
        '--data-dir',
        join(services.directory(), 'data'),
        '--drain-seconds',
        '1',
      ])
      let shown = ''
      const reading = (async () => {
        for await (const bytes of holder.stdout) shown += new TextDecoder().decode(bytes)
      })()
      await until(() => shown.includes('#login='), 'the greeting')
      const found = (pattern: RegExp): string => pattern.exec(shown)?.[1] ?? ''
      const pid = Number(found(/^pid (\d+)/))
      const service = { api: `${found(/ready (http:\/\/[\d.:]+)/)}/api/v1`, managementKey: '', inferenceKey: found(/(pb_inf_\w+)/) }
      try {
        holder.kill(silence)
        // Some 40 KB of log, more than the buffer of a terminal takes.
        for (let request = 0; request < 100; request += 1)
          expect((await infer(service, { model: 'sandbox/echo', messages })).status).toBe(200)
        const answer = await startReading(service, { ...slowly, sandbox: { tokens: 1000, delay_ms: 50 } })
        process.kill(pid, 'SIGTERM')
        expect(streamChunks(await answer.rest()).at(-1)?.choices).toMatchObject([{ finish_reason: 'error' }])
        await until(() => hasEnded(pid), 'the end of the process', patient(5000))
      } finally {
        holder.kill('SIGKILL')
        if (!hasEnded(pid)) process.kill(pid, 'SIGKILL')
        await reading
      }
    })
  }

  test('a second SIGTERM a second later ends the wait', async () => {
    const service = await services.start()
    const answer = await startReading(service, { ...slowly, sandbox: { tokens: 1000, delay_ms: 50 } })
    service.signal('SIGTERM')
    await until(async () => refused(service), 'the end of accepting')
    // An earlier signal would be merged with the first one.
    await Bun.sleep(1100)
    const secondAt = performance.now()
    service.signal('SIGTERM')
    await answer.rest().catch(() => '')
    await service.exited
    expect(performance.now() - secondAt).toBeLessThan(patient(2000))
  })

  test('what was answered before the stop is in the records after it', async () => {
    const service = await services.start()
    const answer = await infer(service, { model: 'sandbox/echo', messages })
    await service.stop()
    const again = { ...(await services.start({ dataDir: service.dataDir })), inferenceKey: service.inferenceKey }
    const record = await call(again, 'GET', `/generation?id=${answer.headers.get('x-generation-id')}`, { key: again.inferenceKey })
    expect(record.status).toBe(200)
  })
})

describe('SIGHUP', () => {
  const withModel = (model: string): string => `
providers:
  fake: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/${model}: { endpoints: [{ provider: fake, model: up-${model} }] }
`

  test('a new provider and model serve without a restart, and streams go on', async () => {
    upstream.script(say('Hi.'))
    const service = await services.start()
    expect((await infer(service, { model: 'fake/new', messages })).status).toBe(404)
    const stream = await startReading(service, { model: 'sandbox/lorem', messages, stream: true, sandbox: { tokens: 50, delay_ms: 10 } })
    service.configure(withModel('new'))
    service.signal('SIGHUP')
    await until(async () => (await infer(service, { model: 'fake/new', messages })).status === 200, 'the new model')
    expect(upstream.last.body.model).toBe('up-new')
    expect((await stream.rest()).endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('a model that is misspelt for a plugin or a tool is a warning with the one that was meant, at the start and at each reload', async () => {
    const service = await services.start({ config: `${withModel('known')}plugins: { alignment: { model: fake/knwon } }\n` })
    const warned = (place: string): boolean =>
      service
        .stderr()
        .split('\n')
        .some(
          (line) => line.includes('"level":"warn"') && line.includes(`${place}: The model `) && line.includes('Did you mean fake/known?'),
        )
    await until(() => warned('plugins.alignment.model'), 'the warning')
    service.configure(
      `${withModel('known')}tools: { image_generation: { model: fake/knwon }, fusion: { presets: { a: [fake/known, fake/knwon] } } }\n`,
    )
    service.signal('SIGHUP')
    await until(() => warned('tools.image_generation.model') && warned('tools.fusion.presets.a[1]'), 'the warnings')
    expect(service.stderr()).not.toContain('presets.a[0]')
  })

  test('the one setting that is read only at the start is a warning after it has changed', async () => {
    const service = await services.start({ config: 'log: { format: json }' })
    service.configure('log: { format: pretty }')
    service.signal('SIGHUP')
    await until(() => service.stderr().includes('log.format has changed; it is read only at the start'), 'the warning')
  })

  test('one that comes while the database is still waited for does not end the service', async () => {
    const asked = Promise.withResolvers<void>()
    const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { open: () => asked.resolve(), data() {} } })
    const url = `postgres://patchbay@127.0.0.1:${silent.port}/patchbay`
    const starting = Bun.spawn([PROGRAM, 'serve', '--port', '0', '--data-dir', services.directory(), '--database-url', url], {
      stdout: 'ignore',
      stderr: 'pipe',
    })
    await asked.promise
    starting.kill('SIGHUP')
    expect([await starting.exited, starting.signalCode]).toEqual([1, null])
    expect(await new Response(starting.stderr).text()).toStartWith('patchbay: The database cannot be reached')
    silent.stop(true)
  })

  // Only Linux shows from outside which program a process has become.
  test.skipIf(!existsSync('/proc/self/cmdline'))('one that comes while the service is still being loaded does not end it', async () => {
    const starting = Bun.spawn([PROGRAM, 'serve', '--port', '0', '--data-dir', services.directory()], { stdout: 'pipe', stderr: 'ignore' })
    await until(() => readFileSync(`/proc/${starting.pid}/cmdline`, 'utf8').includes('launch.ts'), 'the runtime')
    starting.kill('SIGHUP')
    const { value } = await starting.stdout.getReader().read()
    expect(new TextDecoder().decode(value)).toStartWith('patchbay ready ')
    starting.kill('SIGTERM')
    expect(await starting.exited).toBe(0)
  })

  test('a bad file keeps the old one and says why', async () => {
    upstream.script(say('Hi.'))
    const service = await services.start({ config: withModel('old') })
    service.configure('provders: {}\n')
    service.signal('SIGHUP')
    await until(() => service.stderr().includes('provders'), 'the reason')
    expect((await infer(service, { model: 'fake/old', messages })).text).toContain('Hi.')
  })
})

test('SIGUSR1 and SIGUSR2, with which other servers are asked for new log files, change nothing, and the service says so', async () => {
  const service = await services.start()
  for (const name of ['SIGUSR1', 'SIGUSR2'] as const) {
    service.signal(name)
    await until(() => service.stderr().includes(`patchbay: ${name} changes nothing.`), 'the sentence')
  }
  expect((await infer(service, { model: 'sandbox/echo', messages })).status).toBe(200)
  expect(await service.stop()).toBe(0)
})

describe('service routes', () => {
  test('health, metrics, description and reference answer without a key', async () => {
    const service = await services.start()
    await infer(service, { model: 'sandbox/echo', messages })
    for (const path of ['/health/live', '/health/ready']) expect((await fetch(service.url + path)).status).toBe(200)

    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toMatch(/^# TYPE \w+ counter$/m)
    expect(
      metrics.split('\n').filter((line) => line !== '' && !/^(?:# (?:HELP|TYPE) |[a-z_:]+(?:\{[^}]*\})? -?[0-9.e+Inf-]+$)/.test(line)),
    ).toEqual([])

    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as { openapi: string; paths: Record<string, object> }
    expect(document.openapi).toMatch(/^3\.1\./)
    for (const path of ['/presets/{slug}/responses', '/presets/{slug}/messages', '/chat/completions', '/responses', '/messages']) {
      expect(Object.keys(document.paths).some((known) => known.endsWith(path))).toBe(true)
    }

    const page = await fetch(`${service.url}/docs`)
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
    // The page is served from the package itself and loads nothing from elsewhere.
    expect(await page.text()).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//i)
  })

  test('HEAD answers like GET, without a body', async () => {
    const service = await services.start()
    const answer = await fetch(`${service.url}/health/live`, { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('')
  })
})

const checkMisuse = (ended: { code: number | null; stdout: string; stderr: string }, names: string | RegExp): void => {
  expect(ended.stderr).toMatch(names)
  expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(ended.stderr).not.toMatch(/\n\s+at /)
  expect(ended.stdout).toBe('')
  expect(ended.code).toBe(2)
}

/** The process is a zombie, or gone. */
const hasEnded = (pid: number): boolean => {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return true
  }
}

const refused = async (service: StartedService): Promise<boolean> => {
  try {
    return (await fetch(`${service.url}/health/ready`, { headers: { connection: 'close' } })).status === 503
  } catch {
    return true
  }
}

/** Reads until the first content; `rest` reads the whole stream to its end. */
const startReading = async (service: Pick<StartedService, 'api' | 'inferenceKey'>, body: object): Promise<{ rest(): Promise<string> }> => {
  const response = await fetch(`${service.api}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.inferenceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = decoder.decode((await reader.read()).value, { stream: true })
  return {
    async rest() {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return text
        text += decoder.decode(value, { stream: true })
      }
    },
  }
}
