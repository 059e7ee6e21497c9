/** A port for a program that cannot choose one by itself. */
import { createServer, type AddressInfo } from 'node:net'

const TRIES = 10

/** `start` rejects where the program does not listen; then it is given another port, since somebody else may have taken the one it had. */
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
