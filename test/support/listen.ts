import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

import { afterAll } from 'bun:test'

/** Listens on a free port of 127.0.0.1, and returns it. After the tests of the file, the server is closed with its connections. */
export const listenForTests = async (server: Server | HttpServer): Promise<number> => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
