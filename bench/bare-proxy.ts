/**
 * The least that a proxy on this runtime can do: read the body, forward it, and return the answer. The difference to it is the cost of
 * Patchbay. Loopback only. `bin/bun bench/bare-proxy.ts --upstream URL` prints `proxy ready http://127.0.0.1:PORT`.
 */
import { parseArgs } from 'node:util'

import { exitWithParent } from './child.ts'

const main = (): void => {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '0' }, upstream: { type: 'string' }, child: { type: 'boolean', default: false } },
  })
  if (values.upstream === undefined) throw new Error('Name the upstream: --upstream http://127.0.0.1:PORT')
  if (values.child) exitWithParent()
  const upstream = values.upstream

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: Number(values.port),
    idleTimeout: 0,
    async fetch(request) {
      const answer = await fetch(upstream + new URL(request.url).pathname, {
        method: request.method,
        headers: { 'content-type': 'application/json', authorization: request.headers.get('authorization') ?? '' },
        body: await request.text(),
      })
      return new Response(answer.body, {
        status: answer.status,
        headers: { 'content-type': answer.headers.get('content-type') ?? 'application/json' },
      })
    },
  })
  console.log(`proxy ready http://127.0.0.1:${server.port}`)
}

main()
