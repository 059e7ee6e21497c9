/**
 * `npm run three-nodes -- --database-url postgres://… [--redis-url redis://…] [--port 8080] [--data-dir ./data] [--config FILE]`: three
 * nodes of the service on one database, behind a small balancer, to try what docs/nodes.md describes; not for production. SIGHUP restarts
 * one node after the other, SIGTERM and Ctrl-C stop all.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { argv, execPath, exit, stderr, stdout } from 'node:process'
import { parseArgs } from 'node:util'

const PROGRAM = join(import.meta.dirname, '../bin/launch.ts')
const NODES = 3
/** How often nodes are polled for readiness. */
const CHECK_MS = 200

interface Node {
  readonly number: number
  readonly child: ChildProcess
  readonly url: URL
  readonly greeting: string
  ready: boolean
}

const { values: flags } = parseArgs({
  args: argv.slice(2),
  options: {
    port: { type: 'string', default: '8080' },
    'data-dir': { type: 'string', default: './data' },
    'database-url': { type: 'string' },
    'redis-url': { type: 'string' },
    config: { type: 'string' },
  },
})

const own: readonly string[] = (['data-dir', 'database-url', 'redis-url', 'config'] as const).flatMap((name) => {
  const value = flags[name]
  return value === undefined ? [] : [`--${name}`, value]
})

/** Resolves when the node is ready, with null if it exits before that. */
const startNode = (number: number): Promise<Node | null> =>
  new Promise((resolve) => {
    const child = spawn(execPath, [PROGRAM, 'serve', '--port', '0', ...own], { stdio: ['ignore', 'pipe', 'inherit'] })
    let greeting = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      greeting += text
      const url = /^patchbay ready (\S+)\n/.exec(greeting)?.[1]
      if (url === undefined) return
      stdout.write(`node ${number} pid ${child.pid} ${url}\n`)
      resolve({ number, child, url: new URL(url), greeting, ready: true })
    })
    child.once('exit', () => resolve(null))
  })

const nodes: Node[] = []
let next = 0

/** The next ready node in turn, followed by the others, since a node may have gone since it was polled. */
const inTurns = (): readonly Node[] => {
  next += 1
  const turned = nodes.map((_, index) => nodes[(next + index) % nodes.length]).filter((node) => node !== undefined)
  return turned.filter(({ ready }) => ready)
}

/** Connects a client to the first node that accepts the connection. Nothing of its request has been read by then. */
const forward = (client: Socket, [node, ...others]: readonly Node[]): void => {
  if (node === undefined) {
    client.destroy()
    return
  }
  const onward = connect(Number(node.url.port), node.url.hostname)
  const passOn = (): void => forward(client, others)
  onward.once('error', passOn)
  onward.once('connect', () => {
    onward.off('error', passOn)
    onward.on('error', () => client.destroy())
    onward.once('close', () => client.destroy())
    client.once('close', () => onward.destroy())
    client.pipe(onward)
    onward.pipe(client)
  })
}

const balancer = createServer((client) => {
  client.on('error', () => undefined)
  forward(client, inTurns())
})

const check = async (node: Node): Promise<void> => {
  try {
    node.ready = (await fetch(new URL('/health/ready', node.url), { signal: AbortSignal.timeout(1000) })).ok
  } catch {
    node.ready = false
  }
}

const exited = ({ child }: Node): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', () => resolve())
  })

const restartEach = async (): Promise<void> => {
  for (const [place, node] of [...nodes].entries()) {
    node.child.kill('SIGTERM')
    await exited(node)
    const started = await startNode(node.number)
    if (started === null) return
    nodes[place] = started
  }
  stdout.write('all nodes were restarted\n')
}

const stop = async (): Promise<void> => {
  clearInterval(checking)
  for (const { child } of nodes) child.kill('SIGTERM')
  await Promise.all(nodes.map(exited))
  exit(0)
}

// The first node makes the tables and the root secret.
for (let number = 1; number <= NODES; number += 1) {
  const node = await startNode(number)
  if (node === null) {
    stderr.write(`Node ${number} did not start.\n`)
    for (const { child } of nodes) child.kill('SIGTERM')
    exit(1)
  }
  nodes.push(node)
}
const checking = setInterval(() => nodes.forEach((node) => void check(node)), CHECK_MS)
process.on('SIGHUP', () => void restartEach())
process.once('SIGTERM', () => void stop())
process.once('SIGINT', () => void stop())
balancer.listen(Number(flags.port), '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`
  const shown = nodes.map(({ greeting }) => greeting).find((greeting) => greeting.includes('inference key')) ?? ''
  stdout.write(`${shown.split('\n').slice(1, 3).join('\n')}\npatchbay ready ${url}\n`)
})
