/**
 * `npm run test:sandbox -- --socket /var/run/docker.sock`: what a container of `tools.shell` keeps in and out, on a real engine of
 * Docker or Podman. It needs that engine and a static busybox, of which it makes its image; `--all` waits for the end of an
 * idle container too.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values: flags } = parseArgs({
  options: { socket: { type: 'string', default: '/var/run/docker.sock' }, busybox: { type: 'string', default: '/bin/busybox' } },
})

const root = mkdtempSync(join(tmpdir(), 'patchbay-sandbox-'))
/** Only the gateway's host has it, and only the gateway is started with it. */
const MARK = `mark-${process.pid}-${Math.round(performance.timeOrigin)}`
const children: ChildProcess[] = []

type Json = Readonly<Record<string, unknown>>

interface Service {
  readonly url: string
  readonly key: string
  readonly managementKey: string
  readonly process: ChildProcess
}

interface Ran {
  readonly stdout: string
  readonly stderr: string
  readonly outcome: { readonly type: string; readonly exit_code?: number }
}

const main = async (): Promise<void> => {
  const image = await makeImage()
  writeFileSync(join(root, MARK), MARK)
  let service = await startService(image)

  const [identity, files, variables, network, rights, written] = await run(service, [
    'id -u; ls /',
    `ls ${root} ${process.cwd()} /home /root 2>/dev/null; cat /proc/mounts`,
    'env; cat /proc/1/environ',
    'ls /sys/class/net; wget -T 2 -q -O - http://1.1.1.1/ || echo no way out',
    'grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status; touch /bin/x || echo read-only',
    'echo "echo written" > /work/x; chmod +x /work/x; /work/x',
  ])
  check('commands are those of an ordinary user', identity?.stdout.startsWith('65534\n') === true, identity)
  check('no file of the host is there', !JSON.stringify([identity, files]).includes(MARK), files)
  check('no variable of the gateway is there', variables !== undefined && !JSON.stringify(variables).includes(MARK), variables)
  check('there is no network', network?.stdout === 'lo\nno way out\n', network)
  check(
    'there are no rights, and the image cannot be written',
    /CapEff:\t0+\nNoNewPrivs:\t1\nread-only\n/.test(rights?.stdout ?? ''),
    rights,
  )
  check('what stands in /work can be run', written?.stdout === 'written\n', written)

  const bounded = await Promise.all(
    [
      ['a command that sleeps', 'sleep 999', 2000],
      ['a bomb of forks', 'f() { f | f & }; f; sleep 999', 5000],
      ['a process that leaves its command', 'setsid sleep 998 </dev/null >/dev/null 2>&1 & sleep 999', 2000],
    ].map(async ([what, command, timeoutMs]) => {
      const startedMs = performance.now()
      const [ran] = await run(service, [String(command)], { timeout_ms: timeoutMs })
      return { what, ran, tookMs: performance.now() - startedMs }
    }),
  )
  for (const { what, ran, tookMs } of bounded)
    check(`${String(what)} is ended`, ran?.outcome.type === 'timeout' && tookMs < 60_000, [ran, tookMs])

  const [memory, after] = await run(service, ['tail /dev/zero', 'echo still here'], { timeout_ms: 60_000 })
  check('a gigabyte of memory is refused', memory?.outcome.type === 'exit' && memory.outcome.exit_code !== 0, memory)
  check('what comes after it runs', after?.stdout === 'still here\n', after)
  const [disk] = await run(service, ['dd if=/dev/zero of=/work/big bs=1048576 count=300; echo $?'])
  check('/work ends at 256 MiB', disk?.stdout === '1\n', disk)
  const [flood] = await run(service, ['yes | head -c 1000000; yes | head -c 1000000 >&2'], { max_output_length: 100 })
  check('each output ends at its bound', flood?.stdout.length === 100 && flood.stderr.length === 100, flood)

  const session = { session_id: 'one' }
  await run(service, ['echo kept > /work/a'], {}, session)
  const [kept] = await run(service, ['cat /work/a'], {}, session)
  check('a session finds its files again', kept?.stdout === 'kept\n', kept)
  const other = await run(service, ['cat /work/a'], {}, session, await keyOfOtherWorkspace(service))
  check('another workspace does not', other[0]?.outcome.exit_code === 1, other)
  await run(service, ['sleep 999'], { timeout_ms: 1000 }, session)
  const [left] = await run(service, ['cat /work/a; ps'], {}, session)
  check('a command that took too long leaves the files', left?.stdout.startsWith('kept\n') === true, left)
  check('… and does not run on', left !== undefined && !left.stdout.includes('sleep 999'), left)

  const idle = { tools: [{ type: 'service:shell', parameters: { sleep_after_seconds: 10 } }], session_id: 'idle' }
  const earlier = new Set(await containers())
  const fresh = async (): Promise<number> => (await containers()).filter((name) => !earlier.has(name)).length
  await run(service, ['echo kept > /work/a'], {}, idle)
  const hanging = run(service, ['sleep 60'], {}, { ...idle, session_id: 'cut' }).catch(() => [])
  await until(async () => (await fresh()) === 2, 'the container of a command that runs')
  service.process.kill('SIGKILL')
  await hanging
  await until(async () => (await fresh()) === 0, 'the end of two idle containers whose gateway was killed')
  check('idle containers end without their gateway', true, null)

  await engine('POST', '/containers/create?name=patchbay-left-behind', {
    Image: image,
    Cmd: ['true'],
    Labels: { 'patchbay.sandbox': 'true' },
  })
  service = await startService(image)
  const [again] = await run(service, ['cat /work/a'], {}, { session_id: 'one' })
  check('a gateway that was started again, with its data, finds the containers of its sessions', again?.stdout === 'kept\n', again)
  await run(service, ['true'], {}, {})
  check(
    'a young container that was not started may be about to',
    (await containers()).includes('/patchbay-left-behind'),
    await containers(),
  )
}

const faults: string[] = []
const check = (what: string, holds: boolean, seen: unknown): void => {
  process.stdout.write(`${holds ? 'ok  ' : 'NOT '} ${what}\n`)
  if (!holds) faults.push(`${what}: ${JSON.stringify(seen)}`)
}

/** The results of commands that a model runs in one call. */
const run = async (
  { url, key }: Service,
  commands: readonly string[],
  bounds: Json = {},
  more: Json = {},
  otherKey = key,
): Promise<readonly Ran[]> => {
  const answer = await fetch(`${url}/api/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${otherKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sandbox/agent',
      input: 'Run it.',
      tools: [{ type: 'service:shell' }],
      sandbox: { script: [{ call: { name: 'service:shell', arguments: { commands, ...bounds } } }, { text: 'Done.' }] },
      ...more,
    }),
  })
  const { output } = (await answer.json()) as { readonly output?: readonly { readonly type: string; readonly output?: readonly Ran[] }[] }
  const item = output?.find(({ type }) => type === 'service:shell')
  if (item?.output === undefined) throw new Error(`The command did not run: ${JSON.stringify(item ?? answer.status)}`)
  return item.output
}

const keyOfOtherWorkspace = async ({ url, managementKey }: Service): Promise<string> => {
  const post = async (path: string, body: Json): Promise<Json> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await answer.json()) as Json
  }
  const made = await post('/api/v1/workspaces', { name: 'Other', slug: 'other' })
  const { id } = made['data'] as { readonly id: string }
  return String((await post('/api/v1/keys', { name: 'other', workspace_id: id }))['key'])
}

const startService = async (image: string): Promise<Service> => {
  const config = join(root, 'patchbay.yaml')
  writeFileSync(config, `tools: { shell: { kind: docker, socket: "${flags.socket}", image: "${image}" } }\n`)
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(
    join(import.meta.dirname, '../../bin/patchbay'),
    ['serve', '--port', '0', '--data-dir', join(root, 'data'), '--config', config],
    { cwd: root, env: { PATH, HOME, SECRET_OF_THE_GATEWAY: MARK }, stdio: ['ignore', 'pipe', 'ignore'] },
  )
  children.push(child)
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (said += piece))
  await until(async () => /ready http:\S+/.test(said), 'the service')
  const keyOf = (kind: string): string => new RegExp(`^${kind} key (\\S+)$`, 'm').exec(said)?.[1] ?? keys.get(kind) ?? ''
  for (const kind of ['inference', 'management']) keys.set(kind, keyOf(kind))
  return {
    url: /ready (http:\S+)/.exec(said)?.[1] ?? '',
    key: keyOf('inference'),
    managementKey: keyOf('management'),
    process: child,
  }
}

/** Keys are said by the first start alone. */
const keys = new Map<string, string>()

/** An image of nothing but busybox, by its id. */
const makeImage = async (): Promise<string> => {
  const bin = join(root, 'image/bin')
  mkdirSync(bin, { recursive: true })
  for (const folder of ['tmp', 'proc', 'sys', 'dev', 'etc']) mkdirSync(join(root, 'image', folder))
  chmodSync(join(root, 'image/tmp'), 0o1777)
  copyFileSync(flags.busybox, join(bin, 'busybox'))
  for (const name of [
    'sh',
    'sleep',
    'ls',
    'cat',
    'env',
    'id',
    'grep',
    'wget',
    'touch',
    'tail',
    'dd',
    'yes',
    'head',
    'ps',
    'setsid',
    'true',
    'chmod',
  ])
    symlinkSync('busybox', join(bin, name))
  const { stdout, status } = spawnSync('tar', ['-C', join(root, 'image'), '-c', '.'], { maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) throw new Error('tar failed')
  const said = await engine('POST', '/images/create?fromSrc=-&repo=patchbay-test-sandbox&tag=latest', stdout)
  const id = /sha256:[0-9a-f]{64}/.exec(said)?.[0]
  if (id !== undefined) return id
  const { Id } = JSON.parse(await engine('GET', '/images/patchbay-test-sandbox:latest/json')) as { readonly Id: string }
  return Id.startsWith('sha256:') ? Id : `sha256:${Id}`
}

const containers = async (): Promise<readonly string[]> => {
  const filters = encodeURIComponent(JSON.stringify({ label: ['patchbay.sandbox=true'] }))
  const list = JSON.parse(await engine('GET', `/containers/json?all=true&filters=${filters}`)) as readonly { readonly Names: string[] }[]
  return list.flatMap(({ Names }) => Names)
}

const engine = (method: string, path: string, body?: Json | Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const isJson = body !== undefined && !Buffer.isBuffer(body)
    const headers = {
      host: 'localhost',
      ...(body === undefined ? {} : { 'content-type': isJson ? 'application/json' : 'application/x-tar' }),
    }
    const outgoing = request({ socketPath: flags.socket, method, path: `/v1.41${path}`, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      answer.on('end', () => {
        if ((answer.statusCode ?? 500) < 400) resolve(text)
        else reject(new Error(`${method} ${path}: ${answer.statusCode} ${text}`))
      })
    })
    outgoing.on('error', reject)
    outgoing.end(isJson ? JSON.stringify(body) : body)
  })

const until = async (reached: () => Promise<boolean>, what: string): Promise<void> => {
  const endMs = performance.now() + 120_000
  while (!(await reached())) {
    if (performance.now() > endMs) throw new Error(`Waited for ${what} in vain.`)
    await new Promise((resolve) => void setTimeout(resolve, 200))
  }
}

try {
  await main()
} catch (thrown) {
  faults.push(thrown instanceof Error ? thrown.message : String(thrown))
} finally {
  for (const child of children) child.kill('SIGKILL')
  for (const name of await containers()) await engine('DELETE', `/containers${name}?force=true`).catch(() => '')
  await engine('DELETE', '/images/patchbay-test-sandbox:latest?force=true').catch(() => '')
  rmSync(root, { recursive: true, force: true })
}
for (const fault of faults) process.stdout.write(`not as it should be: ${fault}\n`)
process.exitCode = faults.length === 0 ? 0 : 1
