/** The log on a terminal and elsewhere. The terminal is a real one: `script` of util-linux opens it. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'

import { afterAll, expect, test } from 'bun:test'

import { until, useServices } from '../support/started-service.ts'

const PROGRAM = join(import.meta.dir, '../../bin/patchbay')
const services = useServices()
const ended: (() => void)[] = []
afterAll(() => {
  for (const end of ended) end()
})

/** A service on a terminal, the terminal's output, and the end of the terminal. */
const atTerminal = (config: string, env: Readonly<Record<string, string>> = {}) => {
  const directory = services.directory()
  writeFileSync(join(directory, 'patchbay.yaml'), config)
  const { PATH = '', HOME = '' } = process.env
  const command = `echo "pid $$"; exec '${PROGRAM}' serve --port 0 --data-dir '${directory}/data' --config '${directory}/patchbay.yaml'`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH, HOME, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  ended.push(() => void child.kill('SIGKILL'))
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (shown += piece))
  return { child, shown: () => shown, address: () => /ready (http:\S+)/.exec(shown)?.[1], pid: () => Number(/pid (\d+)/.exec(shown)?.[1]) }
}

const askAnything = async (url: string): Promise<void> => {
  await (await fetch(`${url}/api/v1/models/count`)).text()
}

const ESCAPE = '\u001b'
const COLOURED = new RegExp(`${ESCAPE}\\[2m\\d\\d:\\d\\d:\\d\\d${ESCAPE}\\[0m ${ESCAPE}\\[32minfo ${ESCAPE}\\[0m request `)

test.each<[string, string, Record<string, string>, RegExp]>([
  ['short coloured lines', '{}', {}, COLOURED],
  ['no colours where nobody wants them', '{}', { NO_COLOR: '1' }, /\n\d\d:\d\d:\d\d info {2}request /],
  ['JSON where the file says so', 'log: { format: json }', {}, /\n\{"level":"info","time":/],
])('a terminal gets %s', async (_, config, env, line) => {
  const terminal = atTerminal(config, env)
  await until(() => terminal.address() !== undefined, 'the ready line')
  await askAnything(terminal.address()!)
  await until(() => line.test(terminal.shown()), 'the line')
  process.kill(terminal.pid(), 'SIGTERM')
  await new Promise((resolve) => terminal.child.once('exit', resolve))
})

test('a service whose terminal is gone keeps answering, and ends when asked to', async () => {
  const terminal = atTerminal('{}')
  await until(() => terminal.address() !== undefined, 'the ready line')
  const [url, pid] = [terminal.address()!, terminal.pid()]
  ended.push(() => isRunning(pid) && process.kill(pid, 'SIGKILL'))
  // Killing the terminal hangs up on the service, which takes that as the signal to reload its file.
  terminal.child.kill('SIGKILL')
  await new Promise((resolve) => terminal.child.once('exit', resolve))
  for (let asked = 0; asked < 20; asked += 1) await askAnything(url)
  process.kill(pid, 'SIGTERM')
  await until(() => !isRunning(pid), 'its end')
})

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false // the process has ended
  }
}

test('everywhere else each line is JSON, or in the format that the file sets', async () => {
  const plain = await services.start()
  await askAnything(plain.url)
  await until(() => plain.stderr().includes('"msg":"request"'), 'the line')
  for (const line of plain.stderr().trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) })
  const pretty = await services.start({ config: 'log: { format: pretty }' })
  await askAnything(pretty.url)
  await until(() => /^\d\d:\d\d:\d\d info {2}request /m.test(pretty.stderr()), 'the line')
  expect(pretty.stderr()).not.toContain(ESCAPE)
})

test.each([
  ['a small one', 1000],
  ['a large one', 1_000_000],
])('a client that leaves in the middle of its body is not an error of the service: %s', async (_, length) => {
  const service = await services.start()
  const { hostname, port, host } = new URL(service.url)
  const head = `POST /api/v1/chat/completions HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${service.inferenceKey}\r\n`
  const leaves = async (): Promise<boolean> => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    await new Promise<void>((resolve) =>
      socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{"model":"sand`, () => resolve()),
    )
    // Once another, later request is answered, the service has most probably read this one.
    await askAnything(service.url)
    socket.destroy()
    return service.stderr().includes('"operation":"createChatCompletion"')
  }
  await until(leaves, 'the line')
  const line = service
    .stderr()
    .split('\n')
    .find((text) => text.includes('"operation":"createChatCompletion"'))
  expect(JSON.parse(line ?? '')).toMatchObject({ level: 'info', status: 400, error_type: 'invalid_request' })
  expect(service.stderr()).not.toContain('"level":"error"')
})

test('a warning of the PostgreSQL driver about its own future is no line of the log', async () => {
  // It asks for a password in plain text, which the driver takes from a file with a warning, and ends the connection when it comes.
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]))
      socket.once('data', () => socket.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ended.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const passwords = join(services.directory(), 'passwords')
  writeFileSync(passwords, `127.0.0.1:${port}:db:user:secret\n`, { mode: 0o600 })
  const url = `postgres://user@127.0.0.1:${port}/db`
  const { code, stderr } = await services.run(['keys', 'list', '--database-url', url], { PGPASSFILE: passwords })
  expect([code, stderr]).toEqual([1, 'patchbay: The database cannot be reached (Connection terminated unexpectedly).\n'])
})
