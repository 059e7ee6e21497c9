/** Stands between a service and a server that it connects to, so that a test can take the server away and bring it back. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface TcpRelay {
  /** The same address, through the relay. */
  readonly url: string
  /** Ends every connection, and each new one at once. */
  cut(): void
  restore(): void
  close(): void
}

export const startTcpRelay = async (target: string): Promise<TcpRelay> => {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer((socket) => {
    if (isCut) {
      socket.destroy()
      return
    }
    const onward = connect(Number(port), hostname)
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      open.add(one)
      one.pipe(other)
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
    restore: () => (isCut = false),
    close() {
      cut()
      server.close()
    },
  }
}
