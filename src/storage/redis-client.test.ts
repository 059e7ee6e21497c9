import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

import { expect, test } from 'bun:test'

import { HAS_REDIS, startRedis } from '../../test/support/redis.ts'
import { openRedis, requireAllKeys } from './redis-client.ts'
import { rejection } from './testing/rejection.ts'

const messageFor = async (url: string): Promise<string> => String(await rejection(openRedis(url)))

test('a server that ends the connection at the greeting, as Redis does for a wrong password, is told apart from one that is not there', async () => {
  const server = createServer((socket) => void socket.once('data', () => socket.end('-WRONGPASS invalid username-password pair\r\n')))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const refused = await messageFor(`redis://:secret-password@${place}`)
  expect(refused).toContain(`${place} accepts connections, but not this client: check the user and the password`)
  expect(refused).toContain('NODE_EXTRA_CA_CERTS')
  expect(refused).not.toContain('secret-password')
  await new Promise<unknown>((closed) => server.close(closed))
  expect(await messageFor(`redis://:secret-password@${place}`)).toBe(`Error: ${place} cannot be reached: ECONNREFUSED.`)
})

const CLUSTER = 'cluster_state:ok\r\ncluster_size:3\r\n'

/** The server's answers to our two questions. A Sentinel does not know the first one. */
test.each([
  ['one of several shards of a cluster', 'one of several shards of a cluster', `$${CLUSTER.length}\r\n${CLUSTER}\r\n`, 'master'],
  ['a Sentinel', 'a Sentinel, which has no keys itself', "-ERR unknown command 'CLUSTER'\r\n", 'sentinel'],
])('%s is refused in a sentence', async (_, sentence, cluster, role) => {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('%1\r\n$5\r\nproto\r\n:3\r\n')
      socket.on('data', (asked) => {
        if (asked.includes('CLUSTER')) socket.write(cluster)
        if (asked.includes('ROLE')) socket.write(`*1\r\n$${role.length}\r\n${role}\r\n`)
      })
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const client = await openRedis(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`)
  expect(String(await rejection(requireAllKeys(client)))).toContain(sentence)
  client.close()
  server.close()
})

test.skipIf(!HAS_REDIS)('a server outside a cluster has all keys', async () => {
  const { url, stop } = await startRedis()
  const client = await openRedis(url)
  await requireAllKeys(client)
  client.close()
  await stop()
})
