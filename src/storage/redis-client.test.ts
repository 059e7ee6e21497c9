import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

import { expect, test } from 'bun:test'

import { openRedis } from './redis-client.ts'
import { rejection } from './testing/rejection.ts'

const messageFor = async (url: string): Promise<string> => String(await rejection(openRedis(url)))

test('a server that ends the connection at the greeting, as Redis does for a wrong password, is told apart from one that is not there', async () => {
  const server = createServer((socket) => void socket.once('data', () => socket.end('-WRONGPASS invalid username-password pair\r\n')))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const refused = await messageFor(`redis://:secret-password@${place}`)
  expect(refused).toContain(`${place} accepts connections, but not this client: check the user and the password`)
  expect(refused).not.toContain('secret-password')
  await new Promise<unknown>((closed) => server.close(closed))
  expect(await messageFor(`redis://:secret-password@${place}`)).toBe(`Error: ${place} cannot be reached: ECONNREFUSED.`)
})
