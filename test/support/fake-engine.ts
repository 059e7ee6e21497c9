/**
 * The part of Docker's Engine API that sandboxes use, on a socket. Its commands are `echo`, `write`, `read`, `flood`, `hang` and `kill`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'

import { afterAll } from 'bun:test'

export interface ContainerSpec {
  readonly Image: string
  readonly Cmd: readonly string[]
  readonly Env: readonly string[]
  readonly HostConfig: Readonly<Record<string, unknown>>
  readonly [member: string]: unknown
}

export interface FakeEngine {
  readonly socket: string
  /** The containers that exist now, by name. */
  readonly containers: ReadonlyMap<string, { readonly spec: ContainerSpec }>
  /** Every container that was created, oldest first. */
  readonly made: readonly ContainerSpec[]
  /** Every command that was run. */
  readonly commands: readonly (readonly string[])[]
  /** Requests that the API does not have. */
  readonly faults: readonly string[]
  /** The status for a container name that is taken: 409 with Docker, 500 with Podman 4. */
  takenStatus: number
  /** The error for a command that cannot be started, such as when the process limit is reached. */
  refused: string | null
  /** Adds a container that no gateway of this run has created. */
  leave(name: string, state: 'created' | 'running', ageSeconds: number): void
}

interface Held {
  readonly id: string
  readonly spec: ContainerSpec
  readonly createdSeconds: number
  readonly files: Map<string, string>
  started: boolean
  readonly hanging: Set<ServerResponse>
}

interface Ran {
  readonly container: Held
  readonly command: string
  exitCode: number
}

/** Stopped after the tests of the file. */
export const startFakeEngine = async (): Promise<FakeEngine> => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-engine-'))
  const socket = join(folder, 'docker.sock')
  const containers = new Map<string, Held>()
  const made: ContainerSpec[] = []
  const commands: (readonly string[])[] = []
  const faults: string[] = []
  const ran = new Map<string, Ran>()
  const hold = (name: string, spec: ContainerSpec, ageSeconds: number, started: boolean): void => {
    const createdSeconds = Math.floor(Date.now() / 1000) - ageSeconds
    const id = (++count).toString(16).padStart(64, 'c')
    containers.set(name, { id, spec, createdSeconds, files: new Map(), started, hanging: new Set() })
  }
  let count = 0

  const answer = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(asked)
    const url = new URL(asked.url ?? '', 'http://localhost')
    const [, version, kind, name = '', action = ''] = url.pathname.split('/')
    const tell = (status: number, body: object | null = null): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body === null ? '' : JSON.stringify(body))
    }
    const unknown = (): void => {
      faults.push(`${asked.method} ${asked.url} ${text}`)
      tell(400, { message: 'bad parameter' })
    }
    if (version !== 'v1.41') return unknown()
    const route = `${asked.method} ${kind} ${kind === 'containers' && (name === 'create' || name === 'json') ? name : action}`
    const called = [...containers].find(([own, { id }]) => own === name || id === name)?.[0] ?? name
    const held = containers.get(called)
    switch (route) {
      case 'POST containers create': {
        const wanted = url.searchParams.get('name') ?? ''
        if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/.test(wanted)) return unknown()
        if (containers.has(wanted)) return tell(state.takenStatus, { message: 'Conflict.' })
        const spec = JSON.parse(text) as ContainerSpec
        made.push(spec)
        hold(wanted, spec, 0, false)
        return tell(201, { Id: 'c'.repeat(64), Warnings: [] })
      }
      case 'GET containers json': {
        const { label, status } = JSON.parse(url.searchParams.get('filters') ?? '{}') as Readonly<Record<string, readonly string[]>>
        if (url.searchParams.get('all') !== 'true' || label?.join() !== 'patchbay.sandbox=true') return unknown()
        const rows = [...containers].map(([own, { id, createdSeconds, started }]) => ({
          Id: id,
          Names: [`/${own}`],
          Created: createdSeconds,
          State: started ? 'running' : 'created',
        }))
        return tell(
          200,
          rows.filter(({ State }) => status?.includes(State) === true),
        )
      }
      case 'POST containers start':
        if (held === undefined) return tell(404, { message: `No such container: ${name}` })
        if (held.started) return tell(304)
        held.started = true
        return tell(204)
      case 'POST containers exec': {
        if (held?.started !== true) return tell(409, { message: 'not running' })
        const { Cmd } = JSON.parse(text) as { readonly Cmd: readonly string[] }
        if (Cmd[2] === state.refused) return tell(500, { message: 'resource temporarily unavailable' })
        commands.push(Cmd)
        const id = (ran.size + 1).toString(16).padStart(64, '0')
        ran.set(id, { container: held, command: Cmd[2] ?? '', exitCode: 0 })
        return tell(201, { Id: id })
      }
      case 'POST exec start': {
        const one = ran.get(name)
        if (one === undefined) return unknown()
        response.writeHead(200, { 'content-type': 'application/vnd.docker.raw-stream' })
        return execute(one, response)
      }
      case 'GET exec json': {
        const one = ran.get(name)
        return one === undefined ? unknown() : tell(200, { ID: name, Running: false, ExitCode: one.exitCode })
      }
      case 'DELETE containers ': {
        if (held === undefined) return tell(404, { message: `No such container: ${name}` })
        containers.delete(called)
        for (const hanging of held.hanging) hanging.end()
        return tell(204)
      }
      default:
        return unknown()
    }
  }

  const server = createServer((asked, response) => void answer(asked, response))
  await new Promise<void>((resolve) => void server.listen(socket, resolve))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const state: FakeEngine = {
    socket,
    containers,
    made,
    commands,
    faults,
    takenStatus: 409,
    refused: null,
    leave: (name, now, ageSeconds) => hold(name, { Image: '', Cmd: [], Env: [], HostConfig: {} }, ageSeconds, now === 'running'),
  }
  return state
}

const execute = (one: Ran, response: ServerResponse): void => {
  const [word = '', ...rest] = one.command.split(' ')
  const { files, hanging } = one.container
  switch (word) {
    case 'echo':
      // Sends pieces that do not match frame boundaries.
      for (const byte of frame(1, `${rest.join(' ')}\n`)) response.write(Buffer.of(byte))
      break
    case 'write':
      files.set(rest[0] ?? '', rest.slice(1).join(' '))
      break
    case 'read': {
      const file = files.get(rest[0] ?? '')
      if (file === undefined) one.exitCode = 1
      response.write(file === undefined ? frame(2, 'No such file\n') : frame(1, file))
      break
    }
    case 'flood':
      response.write(Buffer.concat([frame(1, 'é'.repeat(100_000)), frame(2, 'oops')]))
      break
    case 'kill':
      for (const hung of hanging) hung.end()
      break
    case 'hang':
      response.write(frame(1, 'begun'))
      hanging.add(response)
      return
    default:
      one.exitCode = 127
      response.write(frame(2, 'not found\n'))
  }
  response.end()
}

const frame = (stream: number, text: string): Buffer => {
  const bytes = Buffer.from(text)
  const header = Buffer.alloc(8)
  header[0] = stream
  header.writeUInt32BE(bytes.length, 4)
  return Buffer.concat([header, bytes])
}
