/**
 * The part of an OpenSandbox server that sandboxes use. It refuses what its descriptions refuse (specs/sandbox-lifecycle.yml and
 * execd-api.yaml of its repository). Its commands are `mkdir`, `echo`, `write`, `read`, `flood`, `hang` and `env`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as textOf } from 'node:stream/consumers'

import { listenForTests } from './listen.ts'

type Json = Readonly<Record<string, unknown>>

export interface FakeSandboxes {
  /** The URL of the API that an operator configures. */
  readonly url: string
  /** The sandboxes that exist now, by the name of their container. */
  readonly sandboxes: ReadonlyMap<string, { readonly id: string }>
  /** The bodies of all requests that created a sandbox. */
  readonly made: readonly Json[]
  /** The bodies of the commands, and the headers of all requests to the inside of a sandbox. */
  readonly commands: readonly Json[]
  readonly inside: readonly IncomingMessage['headers'][]
  /** The bodies of the requests that set an expiry time. */
  readonly renewals: readonly Json[]
  readonly interrupted: readonly string[]
  /** Requests that the API does not have. */
  readonly faults: readonly string[]
  /** The answer to requests that create a sandbox; null lets them succeed. */
  refusal: { readonly status: number; readonly message: string } | null
  /** Clears the faults, which the test expected. */
  forget(): unknown
  /** Ends all sandboxes, as when they expire. */
  endAll(): void
}

interface Held {
  readonly id: string
  readonly metadata: Readonly<Record<string, string>>
  readonly files: Map<string, string>
  readonly createdAt: string
  expiresAt: string
  /** How often its state was read; it is running from the second read on. */
  seen: number
}

const LABEL_NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const CREATE_MEMBERS = new Set(['image', 'timeout', 'resourceLimits', 'entrypoint', 'networkPolicy', 'metadata', 'env', 'extensions'])

/** Stopped after the tests of the file. */
export const startFakeSandboxes = async (key: string): Promise<FakeSandboxes> => {
  const sandboxes = new Map<string, Held>()
  const [made, commands, renewals]: [Json[], Json[], Json[]] = [[], [], []]
  const inside: IncomingMessage['headers'][] = []
  const [faults, interrupted]: [string[], string[]] = [[], []]
  const hanging = new Map<string, ServerResponse>()

  const described = (one: Held): Json => ({
    id: one.id,
    status: { state: one.seen > 1 ? 'Running' : 'Pending' },
    metadata: one.metadata,
    entrypoint: ['tail', '-f', '/dev/null'],
    createdAt: one.createdAt,
    expiresAt: one.expiresAt,
  })

  const faultOf = (spec: Json): string | null => {
    const { image, entrypoint, timeout, resourceLimits, networkPolicy, metadata } = spec as Readonly<Record<string, Json | undefined>>
    if (Object.keys(spec).some((name) => !CREATE_MEMBERS.has(name))) return 'unknown member'
    if (typeof image?.['uri'] !== 'string' || !Array.isArray(entrypoint)) return 'image and entrypoint are required'
    if (!Number.isInteger(timeout) || Number(timeout) < 60) return 'timeout'
    if (!Object.values(resourceLimits ?? { none: 0 }).every((value) => typeof value === 'string')) return 'resourceLimits'
    if (networkPolicy?.['defaultAction'] !== 'deny') return 'the network is open'
    const labels = Object.entries(metadata ?? {})
    return labels.every(([name, value]) => LABEL_NAME.test(name) && LABEL_NAME.test(String(value))) ? null : 'INVALID_METADATA_LABEL'
  }

  const answer = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(asked)
    const body = (text === '' ? {} : JSON.parse(text)) as Json
    const { pathname, searchParams } = new URL(asked.url ?? '', 'http://x')
    const tell = (status: number, json?: Json): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(json === undefined ? '' : JSON.stringify(json))
    }
    const refuse = (status: number, message: string): void => {
      faults.push(`${status} ${asked.method} ${asked.url} ${message}`)
      tell(status, { code: 'INVALID_REQUEST', message })
    }
    const within = /^\/sandboxes\/([^/]+)\/proxy\/44772(\/.*)$/.exec(pathname)
    if (within !== null) {
      const one = [...sandboxes.values()].find(({ id }) => id === within[1])
      inside.push(asked.headers)
      if (asked.headers['open-sandbox-api-key'] !== undefined) return refuse(400, 'the key of the server in a sandbox')
      if (asked.headers['x-route'] !== 'r1') return refuse(401, 'the header of the endpoint is missing')
      if (one === undefined) return tell(502, { code: 'GONE', message: 'no backend' })
      return execd(one, `${asked.method} ${within[2]}`, body, searchParams, response, refuse)
    }
    if (asked.headers['open-sandbox-api-key'] !== key) return refuse(401, 'INVALID_API_KEY')
    const [, version, kind, id, action, port] = pathname.split('/')
    if (version !== 'v1' || kind !== 'sandboxes') return refuse(404, 'no such path')
    const [name, one] = [...sandboxes].find(([, held]) => held.id === id) ?? []
    switch (`${asked.method} ${id === undefined ? '' : (action ?? 'one')}`) {
      case 'GET ': {
        const [label, value] = (searchParams.get('metadata') ?? '').split('=')
        const items = [...sandboxes.values()].filter(({ metadata }) => metadata[label ?? ''] === value)
        return tell(200, {
          items: items.map(described),
          pagination: { page: 1, pageSize: 20, totalItems: items.length, totalPages: 1, hasNextPage: false },
        })
      }
      case 'POST ': {
        if (state.refusal !== null) return tell(state.refusal.status, { code: 'X', message: state.refusal.message })
        const fault = faultOf(body)
        if (fault !== null) return refuse(400, fault)
        made.push(body)
        const metadata = body['metadata'] as Readonly<Record<string, string>>
        const held: Held = {
          id: `sbx-${made.length}`,
          metadata,
          files: new Map(),
          createdAt: new Date().toISOString(),
          expiresAt: new Date(Date.now() + Number(body['timeout']) * 1000).toISOString(),
          seen: 0,
        }
        sandboxes.set(metadata['patchbay.container'] ?? '', held)
        return tell(202, described(held))
      }
      case 'GET one':
        if (one === undefined) return tell(404, { code: 'NOT_FOUND', message: 'no such sandbox' })
        one.seen += 1
        return tell(200, described(one))
      case 'DELETE one':
        if (name === undefined) return tell(404, { code: 'NOT_FOUND', message: 'no such sandbox' })
        sandboxes.delete(name)
        return tell(204)
      case 'GET endpoints':
        if (port !== '44772' || searchParams.get('use_server_proxy') !== 'true') return refuse(400, 'endpoint')
        // The server knows itself under another name.
        return tell(200, { endpoint: `sandboxes.internal:8080/sandboxes/${id}/proxy/44772`, headers: { 'x-route': 'r1' } })
      case 'POST renew-expiration': {
        if (one === undefined) return tell(404, { code: 'NOT_FOUND', message: 'no such sandbox' })
        const at = Date.parse(String(body['expiresAt']))
        if (!(at > Date.now() && at > Date.parse(one.expiresAt)) || Object.keys(body).length !== 1) return refuse(400, 'expiresAt')
        renewals.push(body)
        one.expiresAt = String(body['expiresAt'])
        return tell(200, { expiresAt: one.expiresAt })
      }
      default:
        return refuse(404, 'no such operation')
    }
  }

  const execd = (
    one: Held,
    route: string,
    body: Json,
    query: URLSearchParams,
    response: ServerResponse,
    refuse: (status: number, message: string) => void,
  ): void => {
    if (route === 'GET /ping') return void response.writeHead(200).end()
    if (route === 'DELETE /command') {
      const id = query.get('id') ?? ''
      interrupted.push(id)
      hanging.get(id)?.end()
      return void response.writeHead(200).end()
    }
    const { command, timeout, uid, gid } = body
    if (route !== 'POST /command' || typeof command !== 'string' || (gid !== undefined && uid === undefined)) return refuse(400, 'command')
    commands.push(body)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const id = `cmd-${commands.length}`
    const event = (value: Json, prefix = ''): void => void response.write(`${prefix}${JSON.stringify({ ...value, timestamp: 1 })}\n\n`)
    const ended = (code: number): void => {
      if (code === 0) event({ type: 'execution_complete', execution_time: 1 }, 'data: ')
      else event({ type: 'error', error: { ename: 'CommandExecError', evalue: String(code), traceback: [`exit status ${code}`] } })
      response.end()
    }
    event({ type: 'init', text: id })
    const [word = '', file = '', ...rest] = command.split(' ')
    switch (word) {
      case 'mkdir':
        return ended(0)
      case 'echo':
        event({ type: 'ping', text: 'pong' })
        event({ type: 'stdout', text: [file, ...rest].join(' ') })
        return ended(0)
      case 'write':
        one.files.set(file, rest.join(' '))
        return ended(0)
      case 'read': {
        const found = one.files.get(file)
        event(found === undefined ? { type: 'stderr', text: 'No such file' } : { type: 'stdout', text: found })
        return ended(found === undefined ? 1 : 0)
      }
      case 'flood':
        event({ type: 'stdout', text: 'é'.repeat(2_000_000) })
        event({ type: 'stdout', text: '\n' })
        event({ type: 'stderr', text: 'oops' })
        return ended(0)
      case 'hang':
        event({ type: 'stdout', text: 'begun' })
        // The server kills the command after its timeout, unless the test made it ignore that.
        if (file === 'deaf') return void hanging.set(id, response)
        return void setTimeout(() => ended(-1), Number(timeout))
      default:
        event({ type: 'stderr', text: 'not found' })
        return ended(127)
    }
  }

  const server = createServer((asked, response) => void answer(asked, response))
  const port = await listenForTests(server)
  const state: FakeSandboxes = {
    url: `http://127.0.0.1:${port}/v1`,
    sandboxes,
    made,
    commands,
    inside,
    renewals,
    interrupted,
    faults,
    refusal: null,
    forget: () => faults.splice(0),
    endAll: () => sandboxes.clear(),
  }
  return state
}
