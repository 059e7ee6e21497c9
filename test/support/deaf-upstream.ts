/** A server that listens and never accepts: its process is stopped and its queue of connections is full, so nobody can connect. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import { afterAll } from 'bun:test'

const LISTEN = `const server = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(server.address().port))`
/** More than the backlog of any runtime. */
const QUEUE_MAX = 5000
/** On the loopback the kernel makes a connection in far less time, however busy the machine is. */
const CONNECT_MS = 500

/** Stopped after the tests of the file. Call it while the file loads. */
export const startDeafUpstream = async (): Promise<{ readonly port: number }> => {
  const child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'inherit'] })
  const queued: Socket[] = []
  afterAll(() => {
    child.kill('SIGKILL')
    for (const socket of queued) socket.destroy()
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const port = Number(line.toString())
  child.kill('SIGSTOP')
  while (queued.length < QUEUE_MAX) {
    const socket = connect(port, '127.0.0.1')
    queued.push(socket)
    socket.on('error', () => undefined)
    const connected = once(socket, 'connect').then(() => true)
    if (!(await Promise.race([connected, Bun.sleep(CONNECT_MS).then(() => false)]))) return { port }
  }
  throw new Error('The queue of connections has no end.')
}
