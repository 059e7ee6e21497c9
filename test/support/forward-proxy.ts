/** A proxy for outgoing requests, as networks without a way out have one. */
import { connect, createServer, type Socket } from 'node:net'

import { listenForTests } from './listen.ts'

export interface ForwardProxy {
  readonly url: string
  /** The head of each request, in lower case. */
  readonly heads: readonly string[]
  /** The connections that asked for a tunnel and are open. */
  readonly tunnels: number
  /** Sets where the next requests go: to a port of 127.0.0.1, to a status in place of a tunnel, or nowhere. */
  answer(way: { readonly forward: number } | { readonly status: number } | 'hang'): void
}

/** Stopped after the tests of the file. Call it while the file loads. */
export const startForwardProxy = async (): Promise<ForwardProxy> => {
  const heads: string[] = []
  const tunnels = new Set<Socket>()
  let way: Parameters<ForwardProxy['answer']>[0] = 'hang'
  const server = createServer((socket) => {
    socket.on('error', () => undefined).on('close', () => tunnels.delete(socket))
    socket.once('data', (first) => {
      const text = first.toString('latin1')
      heads.push((text.split('\r\n\r\n')[0] ?? '').toLowerCase())
      const isTunnel = text.startsWith('CONNECT ')
      if (isTunnel) tunnels.add(socket)
      if (way === 'hang') {
        socket.resume()
        return
      }
      if ('status' in way) {
        socket.end(`HTTP/1.1 ${way.status} No\r\ncontent-length: 0\r\n\r\n`)
        return
      }
      const target = connect(way.forward, '127.0.0.1')
      target.on('error', () => socket.destroy())
      if (isTunnel) socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      else target.write(first)
      socket.pipe(target).pipe(socket)
    })
  })
  const port = await listenForTests(server)
  return {
    url: `http://127.0.0.1:${port}`,
    heads,
    get tunnels() {
      return tunnels.size
    },
    answer: (next) => void (way = next),
  }
}
