/** A free port for a program that cannot choose one itself. */
import { createServer, type AddressInfo } from 'node:net'

const TRIES = 10

/**
 * `start` must reject if the program does not listen; it is then called with another port, since another process may have taken the first.
 */
export const onFreePort = async <Started>(start: (port: number) => Promise<Started>): Promise<Started> => {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    try {
      return await start(port)
    } catch (thrown) {
      if (tries === TRIES) throw thrown
    }
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
