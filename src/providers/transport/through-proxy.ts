/** Requests of the system's HTTP client through a proxy: for https in a tunnel, for http with the whole address in place of the path. */
import type { RequestOptions } from 'node:http'
import type { Socket } from 'node:net'

import { portOf } from '../../lib/network/port-of.ts'
import { bareHost } from '../../lib/network/trusted-hosts.ts'

/** The module and the options with which a request reaches its address. */
export interface Way {
  readonly scheme: 'http' | 'https'
  readonly options: RequestOptions
  readonly headers: Readonly<Record<string, string>>
  /** Call it when the answer was read, or is not wanted. */
  close(): void
}

/** The proxy opens no tunnel. `message` says why, and does not name the proxy, whose address may have a password in it. */
export class NoTunnel extends Error {
  override readonly name = 'NoTunnel'
}

/** Rejects with NoTunnel, or with the error of the connection to the proxy. */
export const throughProxy = async (url: URL, address: string, signal: AbortSignal): Promise<Way> => {
  const proxy = URL.parse(address)
  if (proxy === null || !/^https?:$/.test(proxy.protocol)) throw new NoTunnel('the proxy of the environment is neither http nor https')
  if (url.protocol === 'http:')
    return { scheme: schemeOf(proxy), options: { ...placeOf(proxy), path: url.href }, headers: credentialsOf(proxy), close: () => {} }
  const tunnel = await openTunnel(url, proxy, signal)
  const socket = secured(url, tunnel)
  // The request reports it, unless it was given up before.
  socket.on('error', () => undefined)
  const { Agent } = process.getBuiltinModule('node:http')
  return {
    // The socket brings TLS with it.
    scheme: 'http',
    options: {
      host: bareHost(url.hostname),
      path: `${url.pathname}${url.search}`,
      // The runtime heeds a connection of the agent's, and none beside an agent.
      agent: Object.assign(new Agent({ keepAlive: false }), { createConnection: () => socket }),
    },
    headers: {},
    close() {
      socket.destroy()
      tunnel.destroy()
    },
  }
}

/** RFC 9110, section 9.3.6. The runtime's HTTP client would keep a connection whose tunnel does not open for seconds after it was given up. */
const openTunnel = (url: URL, proxy: URL, signal: AbortSignal): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connectTo(proxy)
    const fail = (error: Error): void => {
      socket.destroy()
      reject(error)
    }
    let head = ''
    const read = (bytes: Buffer): void => {
      head += bytes.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0 && head.length <= HEAD_MAX) return
      socket.off('data', read).off('end', cut)
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1]
      if (status === '200' && end === head.length - 4) resolve(socket)
      else fail(new NoTunnel(status === '407' ? 'the proxy wants other credentials (407)' : `the proxy does not connect to it (${status})`))
    }
    const cut = (): void => fail(new NoTunnel('the proxy closed the connection'))
    socket.on('data', read).on('error', fail).on('end', cut)
    const leave = (): void => fail(new NoTunnel('the request was given up'))
    if (signal.aborted) return leave()
    signal.addEventListener('abort', leave, { once: true })
    const authority = `${url.hostname}:${portOf(url)}`
    const credentials = Object.entries(credentialsOf(proxy)).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credentials.join('')}\r\n`)
  })

/** In bytes, for the head of the proxy's answer. */
const HEAD_MAX = 16_384

const connectTo = (url: URL): Socket => {
  const socket = process.getBuiltinModule('node:net').connect(portOf(url), bareHost(url.hostname))
  return url.protocol === 'https:' ? secured(url, socket) : socket
}

const secured = (url: URL, socket: Socket): Socket => {
  const host = bareHost(url.hostname)
  const isAddress = process.getBuiltinModule('node:net').isIP(host) !== 0
  return process.getBuiltinModule('node:tls').connect({ socket, host, ...(isAddress ? {} : { servername: host }) })
}

const schemeOf = ({ protocol }: URL): Way['scheme'] => (protocol === 'https:' ? 'https' : 'http')

const placeOf = (proxy: URL): Pick<RequestOptions, 'host' | 'port'> => ({ host: bareHost(proxy.hostname), port: portOf(proxy) })

const credentialsOf = ({ username, password }: URL): Way['headers'] =>
  username === '' && password === ''
    ? {}
    : {
        'proxy-authorization': `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`,
      }
