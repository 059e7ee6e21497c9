/** A service behind a proxy at which something happens between two requests. */
import { afterAll } from 'bun:test'

/** Calls `before` with each request ("POST /keys") before it is forwarded. A request for which it throws is answered with 500. Returns the address. */
export const startBehind = (url: string, before: (request: string) => Promise<void> | void): string => {
  const server = Bun.serve({
    port: 0,
    development: false,
    error: () => new Response('', { status: 500 }),
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      await before(`${request.method} ${pathname.replace('/api/v1', '')}`)
      const body = request.method === 'GET' ? null : await request.text()
      return fetch(`${url}${pathname}${search}`, { method: request.method, headers: request.headers, body })
    },
  })
  afterAll(() => server.stop(true))
  return `http://127.0.0.1:${server.port}`
}
