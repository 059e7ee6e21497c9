/**
 * Sandboxes of an OpenSandbox server (https://github.com/alibaba/OpenSandbox, specs/sandbox-lifecycle.yml and execd-api.yaml). The
 * server creates them, ends each when its time is over, and forwards commands to the `execd` inside. They end even without the
 * gateway.
 */
import { z } from 'zod'

import { cutText } from '../../lib/text/cut-text.ts'
import { type Clock, isoTimestamp, pause } from '../../lib/clock.ts'
import { type JsonObject, objectIn } from '../../lib/json/json.ts'
import { type CommandEvents, readCommandEvents } from './command-events.ts'
import { askServer, type EngineAnswer, readAll } from './engine-api.ts'
import { type CommandBounds, type CommandResult, type Container, noSuchContainer, type Sandbox, SandboxFailure } from './sandbox.ts'
import { paced } from './paced.ts'
import type { OpenSandboxSettings } from './settings.ts'
import { SANDBOX_LABEL } from './sweep-containers.ts'

/** A sandbox that is ready for commands. */
interface Place {
  readonly id: string
  /** The path of its `execd` through the server, and the headers that each request needs. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The time at which the server ends it. */
  expiresMs: number
}

export const createOpenSandbox = ({ url, api_key: key, image }: OpenSandboxSettings, clock: Clock): Sandbox => {
  const base = new URL(url)
  const root = base.pathname.replace(/\/$/, '')
  /** The sandboxes that exist or are being created, by name. */
  const places = new Map<string, Promise<Place>>()
  const forgetting = new Map<string, () => void>()
  const forget = (name: string): void => {
    forgetting.get(name)?.()
    forgetting.delete(name)
    places.delete(name)
  }

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

  const find = async (name: string, signal: AbortSignal): Promise<Listed | null> => {
    const query = `metadata=${encodeURIComponent(`${NAME_LABEL}=${name}`)}&state=Running&state=Pending&pageSize=20`
    const { items } = read(listed, await manage('GET', `/sandboxes?${query}`, null, signal), [200], 'cannot be listed')
    // Two gateways may have created one each at the same time; the oldest is used.
    return items.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))[0] ?? null
  }

  const make = async ({ name, idleSeconds }: Container, signal: AbortSignal): Promise<Listed> => {
    const spec = {
      image: { uri: image },
      entrypoint: ['tail', '-f', '/dev/null'],
      timeout: Math.max(TIMEOUT_MIN_SECONDS, idleSeconds + GRACE_SECONDS),
      resourceLimits: { cpu: '1000m', memory: '512Mi' },
      networkPolicy: { defaultAction: 'deny', egress: [] },
      metadata: { [SANDBOX_LABEL]: 'true', [NAME_LABEL]: name },
    }
    return read(described, await manage('POST', '/sandboxes', spec, signal), [200, 201, 202], 'cannot be made')
  }

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

  const execute = async (
    place: Place,
    body: JsonObject,
    { timeoutMs, outputBytes }: CommandBounds,
    signal: AbortSignal,
  ): Promise<Executed> => {
    let id: string | null = null
    const startedMs = clock.monotonicMs()
    const { status, stream } = await askInside(place, 'POST', '/command', { ...body, timeout: timeoutMs }, signal)
    if (status !== 200) throw new SandboxFailure(`The sandbox takes no command (${status}): ${saidIn(objectIn(await readAll(stream)))}`)
    const events = await readCommandEvents(paced(stream, clock), outputBytes, (begun) => (id = begun), signal)
    return { ...events, id, tookMs: clock.monotonicMs() - startedMs }
  }

  const open = async (container: Container): Promise<Place> => {
    const late = new AbortController()
    const cancel = clock.after(READY_MS, () => late.abort(new SandboxFailure('The sandbox does not start in time.')))
    const { signal } = late
    try {
      const found = await find(container.name, signal)
      if (found === null && !container.isMade) throw noSuchContainer()
      const one = found ?? (await make(container, signal))
      await untilRunning(one, signal)
      const place = await endpointOf(one, signal)
      await untilReady(place, signal)
      const { exitCode } = await execute(place, { command: `mkdir -p -m 1777 ${WORK}` }, { timeoutMs: READY_MS, outputBytes: 0 }, signal)
      if (exitCode !== 0) throw new SandboxFailure(`The sandbox has no place for files (${WORK}).`)
      return place
    } finally {
      cancel()
    }
  }

  const placeOf = (container: Container): Promise<Place> => {
    const { name } = container
    const known = places.get(name)
    if (known !== undefined) return known
    const opened = open(container)
    places.set(name, opened)
    // A failed one is removed, so that the next command tries again.
    opened.catch(() => places.get(name) === opened && places.delete(name))
    return opened
  }

  /** Extends the sandbox's lifetime; returns false if it is gone. */
  const prolong = async (place: Place, seconds: number, signal: AbortSignal): Promise<boolean> => {
    const expiresMs = clock.now() + seconds * 1000
    if (expiresMs <= place.expiresMs) return true
    place.expiresMs = expiresMs
    const answer = await manage('POST', `/sandboxes/${place.id}/renew-expiration`, { expiresAt: isoTimestamp(expiresMs) }, signal)
    // 400: another command, or another gateway, has set a later end.
    if (answer.status === 200 || answer.status === 400) return true
    if (answer.status === 404) return false
    throw new SandboxFailure(`The sandbox cannot be kept (${answer.status}): ${saidIn(answer.json)}`)
  }

  const interrupt = async (name: string, place: Place, id: string | null): Promise<void> => {
    const late = new AbortController()
    const cancel = clock.after(INTERRUPT_MS, () => late.abort(new SandboxFailure('The command does not end.')))
    try {
      if (id === null) throw new SandboxFailure('The command has no id.')
      const { status, stream } = await askInside(place, 'DELETE', `/command?id=${encodeURIComponent(id)}`, null, late.signal)
      stream.resume()
      if (status !== 200) throw new SandboxFailure('The command cannot be ended.')
    } catch (thrown) {
      if (!(thrown instanceof SandboxFailure)) throw thrown
      await end(name) // the only way left
    } finally {
      cancel()
    }
  }

  const end = async (name: string): Promise<void> => {
    const known = places.get(name)
    forget(name)
    const late = new AbortController()
    const cancel = clock.after(INTERRUPT_MS, () => late.abort(new SandboxFailure('The sandbox does not end.')))
    try {
      const place = known === undefined ? await find(name, late.signal) : await known
      if (place !== null) await manage('DELETE', `/sandboxes/${place.id}`, null, late.signal)
    } catch (thrown) {
      if (!(thrown instanceof SandboxFailure)) throw thrown // the server ends it when its time is over
    } finally {
      cancel()
    }
  }

  return {
    async run(container, command, bounds, signal) {
      const { name, idleSeconds } = container
      const seconds = idleSeconds + bounds.timeoutMs / 1000 + GRACE_SECONDS
      let place = await unless(signal, placeOf(container))
      if (!(await prolong(place, seconds, signal))) {
        forget(name)
        if (!container.isMade) throw noSuchContainer()
        place = await unless(signal, placeOf(container))
        if (!(await prolong(place, seconds, signal))) throw new SandboxFailure('The sandbox ended at once.')
      }
      const ending = new AbortController()
      const stop = (): void => ending.abort(new SandboxFailure('The command took too long.'))
      const cancel = clock.after(bounds.timeoutMs + OWN_GRACE_MS, stop)
      signal.addEventListener('abort', stop, { once: true })
      try {
        const did = await execute(place, { command, cwd: WORK, uid: NOBODY, gid: NOBODY }, bounds, ending.signal)
        if (!ending.signal.aborted) return resultOf(did, bounds)
        await interrupt(name, place, did.id)
        signal.throwIfAborted()
        return { stdout: did.stdout, stderr: did.stderr, exitCode: null }
      } finally {
        cancel()
        signal.removeEventListener('abort', stop)
        // By then the server has ended it, or another gateway has used it, so it must be looked up again.
        forgetting.get(name)?.()
        forgetting.set(
          name,
          clock.after(Math.min(seconds * 1000, LONGEST_TIMER_MS), () => forget(name)),
        )
      }
    },
    end,
  }
}

interface Executed extends CommandEvents {
  readonly id: string | null
  readonly tookMs: number
}

/** The server kills a command that exceeds its time, which then has no exit code of its own. */
const resultOf = ({ stdout, stderr, exitCode, fault, tookMs }: Executed, { timeoutMs }: CommandBounds): CommandResult => {
  if (fault !== null) throw new SandboxFailure(`The sandbox runs no command: ${fault}`)
  if (exitCode === null) throw new SandboxFailure('The sandbox broke off its answer.')
  return { stdout, stderr, exitCode: exitCode < 0 && tookMs >= timeoutMs ? null : exitCode }
}

const unless = <Value>(signal: AbortSignal, wanted: Promise<Value>): Promise<Value> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(signal.reason as Error)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  return Promise.race([wanted, promise]).finally(() => signal.removeEventListener('abort', stop))
}

const KEY_HEADER = 'OPEN-SANDBOX-API-KEY'
const NAME_LABEL = 'patchbay.container'
const EXECD_PORT = 44_772
const WORK = '/work'
const NOBODY = 65_534
/** The shortest lifetime that the server accepts. */
const TIMEOUT_MIN_SECONDS = 60
/** Allowance between the end of a command, as the gateway sees it, and the start of its idle time. */
const GRACE_SECONDS = 30
const OWN_GRACE_MS = 10_000
const READY_MS = 60_000
const PAUSE_MS = 250
const INTERRUPT_MS = 5000
const LONGEST_TIMER_MS = 2_000_000_000
const COMING: ReadonlySet<string> = new Set(['Pending', 'Resuming'])

const id = z.string().regex(/^[A-Za-z0-9._-]{1,128}$/)
const described = z.looseObject({
  id,
  status: z.looseObject({ state: z.string() }),
  createdAt: z.string(),
  expiresAt: z.string().optional(),
})
type Listed = z.output<typeof described>
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
