/** A relay between a service and a server that it connects to, so that a test can take the server away and bring it back. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface TcpRelay {
  /** The server's URL, through the relay. */
  readonly url: string
  /** Closes every connection, and each new one at once. */
  cut(): void
  /** Forwards nothing and closes nothing, as in a network partition. */
  hang(): void
  /** Each open connection ends at the next byte that the service sends, and not before, as at a firewall that forgot it. */
  forget(): void
  restore(): void
  close(): void
}

export const startTcpRelay = async (target: string): Promise<TcpRelay> => {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  const forgotten = new WeakSet<Socket>()
  let isCut = false
  let isHanging = false
  const server = createServer((socket) => {
    if (isCut) {
      socket.destroy()
      return
    }
    const onward = connect(Number(port), hostname)
    if (isHanging) for (const each of [socket, onward]) each.pause()
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      open.add(one)
      one.on('data', (bytes) => (forgotten.has(one) ? one.destroy() : void other.write(bytes)))
      one.on('end', () => other.end())
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const cut = (): void => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  return {
    url: url.href,
    cut,
    hang() {
      isHanging = true
      for (const socket of open) socket.pause()
    },
    forget() {
      for (const socket of open) forgotten.add(socket)
    },
    restore() {
      isCut = false
      isHanging = false
      for (const socket of open) socket.resume()
    },
    close() {
      cut()
      server.close()
    },
  }
}
