/**
 * The API of an OpenSandbox server (https://github.com/alibaba/OpenSandbox, specs/sandbox-lifecycle.yml and execd-api.yaml). The server
 * creates sandboxes, ends each when its time is over, and forwards commands to the `execd` inside.
 */
import { z } from 'zod'

import { type Clock, isoTimestamp, pause } from '../../lib/clock.ts'
import { type JsonObject, objectIn } from '../../lib/json/json.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import { type CommandEvents, readCommandEvents } from './command-events.ts'
import { askServer, type EngineAnswer, readAll } from './engine-api.ts'
import { paced } from './paced.ts'
import { type CommandBounds, type Container, SandboxFailure } from './sandbox.ts'
import type { OpenSandboxSettings } from './settings.ts'
import { SANDBOX_LABEL } from './sweep-containers.ts'

/** A sandbox that is ready for commands. */
export interface Place {
  readonly id: string
  /** The path of its `execd` through the server, and the headers that each request needs. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The time at which the server ends it. */
  expiresMs: number
}

export interface Executed extends CommandEvents {
  readonly id: string | null
  readonly tookMs: number
}

/** Each call throws SandboxFailure, and what aborts its signal. */
export interface OpenSandboxServer {
  /** The sandbox of this name; null if there is none. */
  find(name: string, signal: AbortSignal): Promise<Listed | null>
  make(container: Container, signal: AbortSignal): Promise<Listed>
  /** Waits until the sandbox takes commands. */
  reach(sandbox: Listed, signal: AbortSignal): Promise<Place>
  execute(place: Place, body: JsonObject, bounds: CommandBounds, signal: AbortSignal): Promise<Executed>
  /** Extends the sandbox's lifetime; returns false if it is gone. */
  prolong(place: Place, seconds: number, signal: AbortSignal): Promise<boolean>
  interrupt(place: Place, commandId: string, signal: AbortSignal): Promise<void>
  delete(id: string, signal: AbortSignal): Promise<void>
}

export const createOpenSandboxServer = ({ url, api_key: key, image }: OpenSandboxSettings, clock: Clock): OpenSandboxServer => {
  const base = new URL(url)
  const root = base.pathname.replace(/\/$/, '')

  const manage = async (method: string, path: string, body: JsonObject | null, signal: AbortSignal): Promise<Reported> => {
    const { status, stream } = await askServer(base, { method, path: root + path, body, signal }, { [KEY_HEADER]: key })
    const text = await readAll(stream)
    return { status, json: objectIn(text) ?? {} }
  }

  /** Sends a request to the `execd` inside. The API key is for the server only and never reaches a sandbox. */
  const askInside = (
    { path, headers }: Place,
    method: string,
    below: string,
    body: JsonObject | null,
    signal: AbortSignal,
  ): Promise<EngineAnswer> => askServer(base, { method, path: path + below, body, signal }, { ...headers, accept: 'text/event-stream' })

  const untilRunning = async ({ id, status }: Listed, signal: AbortSignal): Promise<void> => {
    for (let { state } = status; state !== 'Running';) {
      if (!COMING.has(state)) throw new SandboxFailure(`The sandbox does not start (${cutText(state, 40)}).`)
      await pause(clock, PAUSE_MS)
      signal.throwIfAborted()
      const found = read(described, await manage('GET', `/sandboxes/${id}`, null, signal), [200], 'cannot be found')
      state = found.status.state
    }
  }

  const endpointOf = async ({ id, expiresAt }: Listed, signal: AbortSignal): Promise<Place> => {
    const path = `/sandboxes/${id}/endpoints/${EXECD_PORT}?use_server_proxy=true`
    const { endpoint, headers } = read(reached, await manage('GET', path, null, signal), [200], 'cannot be reached')
    // The endpoint belongs to this server, whatever host name it states.
    const { pathname } = new URL(`http://${endpoint.replace(/^https?:\/\//, '')}`)
    return { id, path: pathname.replace(/\/$/, ''), headers: headers ?? {}, expiresMs: expiresAt === undefined ? 0 : Date.parse(expiresAt) }
  }

  const untilReady = async (place: Place, signal: AbortSignal): Promise<void> => {
    for (;;) {
      const { status, stream } = await askInside(place, 'GET', '/ping', null, signal)
      stream.resume()
      if (status === 200) return
      await pause(clock, PAUSE_MS)
      signal.throwIfAborted()
    }
  }

  return {
    async find(name, signal) {
      const query = `metadata=${encodeURIComponent(`${NAME_LABEL}=${name}`)}&state=Running&state=Pending&pageSize=20`
      const { items } = read(listed, await manage('GET', `/sandboxes?${query}`, null, signal), [200], 'cannot be listed')
      // Two gateways may have created one each at the same time; the oldest is used.
      return items.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))[0] ?? null
    },

    async make({ name, idleSeconds }, signal) {
      const spec = {
        image: { uri: image },
        entrypoint: ['tail', '-f', '/dev/null'],
        timeout: Math.max(TIMEOUT_MIN_SECONDS, idleSeconds + GRACE_SECONDS),
        resourceLimits: { cpu: '1000m', memory: '512Mi' },
        networkPolicy: { defaultAction: 'deny', egress: [] },
        metadata: { [SANDBOX_LABEL]: 'true', [NAME_LABEL]: name },
      }
      return read(described, await manage('POST', '/sandboxes', spec, signal), [200, 201, 202], 'cannot be made')
    },

    async reach(sandbox, signal) {
      await untilRunning(sandbox, signal)
      const place = await endpointOf(sandbox, signal)
      await untilReady(place, signal)
      return place
    },

    async execute(place, body, { timeoutMs, outputBytes }, signal) {
      let id: string | null = null
      const startedMs = clock.monotonicMs()
      const { status, stream } = await askInside(place, 'POST', '/command', { ...body, timeout: timeoutMs }, signal)
      if (status !== 200) throw new SandboxFailure(`The sandbox takes no command (${status}): ${saidIn(objectIn(await readAll(stream)))}`)
      const events = await readCommandEvents(paced(stream, clock), outputBytes, (begun) => (id = begun), signal)
      return { ...events, id, tookMs: clock.monotonicMs() - startedMs }
    },

    async prolong(place, seconds, signal) {
      const expiresMs = clock.now() + seconds * 1000
      if (expiresMs <= place.expiresMs) return true
      place.expiresMs = expiresMs
      const answer = await manage('POST', `/sandboxes/${place.id}/renew-expiration`, { expiresAt: isoTimestamp(expiresMs) }, signal)
      // 400: another command, or another gateway, has set a later end.
      if (answer.status === 200 || answer.status === 400) return true
      if (answer.status === 404) return false
      throw new SandboxFailure(`The sandbox cannot be kept (${answer.status}): ${saidIn(answer.json)}`)
    },

    async interrupt(place, commandId, signal) {
      const { status, stream } = await askInside(place, 'DELETE', `/command?id=${encodeURIComponent(commandId)}`, null, signal)
      stream.resume()
      if (status !== 200) throw new SandboxFailure('The command cannot be ended.')
    },

    async delete(id, signal) {
      await manage('DELETE', `/sandboxes/${id}`, null, signal)
    },
  }
}

const KEY_HEADER = 'OPEN-SANDBOX-API-KEY'
const NAME_LABEL = 'patchbay.container'
const EXECD_PORT = 44_772
/** The shortest lifetime that the server accepts. */
const TIMEOUT_MIN_SECONDS = 60
/** Allowance between the end of a command, as the gateway sees it, and the start of its idle time. */
export const GRACE_SECONDS = 30
const PAUSE_MS = 250
const COMING: ReadonlySet<string> = new Set(['Pending', 'Resuming'])

const id = z.string().regex(/^[A-Za-z0-9._-]{1,128}$/)
const described = z.looseObject({
  id,
  status: z.looseObject({ state: z.string() }),
  createdAt: z.string(),
  expiresAt: z.string().optional(),
})
/** A sandbox, as the server describes it. */
export type Listed = z.output<typeof described>
const listed = z.looseObject({ items: z.array(described) })
const reached = z.looseObject({
  endpoint: z.string().regex(/^(?:https?:\/\/)?[\w.:[\]-]+(?:\/[^\s?#]*)?$/),
  headers: z.record(z.string().regex(/^[\w-]{1,64}$/), z.string().regex(/^[ -~]*$/)).nullish(),
})
const refusal = z.looseObject({ message: z.string() })

interface Reported {
  readonly status: number
  readonly json: JsonObject
}

const read = <Schema extends z.ZodType>(
  schema: Schema,
  { status, json }: Reported,
  statuses: readonly number[],
  what: string,
): z.output<Schema> => {
  if (!statuses.includes(status)) throw new SandboxFailure(`The sandbox ${what} (${status}): ${saidIn(json)}`)
  const found = schema.safeParse(json)
  if (!found.success) throw new SandboxFailure('The sandbox gave an answer that cannot be read.')
  return found.data
}

const saidIn = (json: JsonObject | null): string => cutText(refusal.safeParse(json).data?.message ?? '', 200)
