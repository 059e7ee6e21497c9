/** Sandboxes of an OpenSandbox server: which of them exist, and the commands that run in them. They end even without the gateway. */
import type { Clock } from '../../lib/clock.ts'
import { createOpenSandboxServer, type Executed, GRACE_SECONDS, type Place } from './open-sandbox-server.ts'
import { type CommandBounds, type CommandResult, type Container, noSuchContainer, type Sandbox, SandboxFailure } from './sandbox.ts'
import type { OpenSandboxSettings } from './settings.ts'

export const createOpenSandbox = (settings: OpenSandboxSettings, clock: Clock): Sandbox => {
  const server = createOpenSandboxServer(settings, clock)
  /** The sandboxes that exist or are being created, by name. */
  const places = new Map<string, Promise<Place>>()
  const forgetting = new Map<string, () => void>()
  const forget = (name: string): void => {
    forgetting.get(name)?.()
    forgetting.delete(name)
    places.delete(name)
  }

  /** Aborts the work when its time is over, with this sentence. */
  const within = async <Done>(ms: number, sentence: string, work: (signal: AbortSignal) => Promise<Done>): Promise<Done> => {
    const late = new AbortController()
    const cancel = clock.after(ms, () => late.abort(new SandboxFailure(sentence)))
    try {
      return await work(late.signal)
    } finally {
      cancel()
    }
  }

  const open = (container: Container): Promise<Place> =>
    within(READY_MS, 'The sandbox does not start in time.', async (signal) => {
      const found = await server.find(container.name, signal)
      if (found === null && !container.isMade) throw noSuchContainer()
      const place = await server.reach(found ?? (await server.make(container, signal)), signal)
      const made = await server.execute(place, { command: `mkdir -p -m 1777 ${WORK}` }, { timeoutMs: READY_MS, outputBytes: 0 }, signal)
      if (made.exitCode !== 0) throw new SandboxFailure(`The sandbox has no place for files (${WORK}).`)
      return place
    })

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

  const interrupt = async (name: string, place: Place, id: string | null): Promise<void> => {
    try {
      if (id === null) throw new SandboxFailure('The command has no id.')
      await within(INTERRUPT_MS, 'The command does not end.', (signal) => server.interrupt(place, id, signal))
    } catch (thrown) {
      if (!(thrown instanceof SandboxFailure)) throw thrown
      await end(name) // the only way left
    }
  }

  const end = async (name: string): Promise<void> => {
    const known = places.get(name)
    forget(name)
    try {
      await within(INTERRUPT_MS, 'The sandbox does not end.', async (signal) => {
        const place = known === undefined ? await server.find(name, signal) : await known
        if (place !== null) await server.delete(place.id, signal)
      })
    } catch (thrown) {
      if (!(thrown instanceof SandboxFailure)) throw thrown // the server ends it when its time is over
    }
  }

  return {
    async run(container, command, bounds, signal) {
      const { name, idleSeconds } = container
      const seconds = idleSeconds + bounds.timeoutMs / 1000 + GRACE_SECONDS
      let place = await unless(signal, placeOf(container))
      if (!(await server.prolong(place, seconds, signal))) {
        forget(name)
        if (!container.isMade) throw noSuchContainer()
        place = await unless(signal, placeOf(container))
        if (!(await server.prolong(place, seconds, signal))) throw new SandboxFailure('The sandbox ended at once.')
      }
      const ending = new AbortController()
      const stop = (): void => ending.abort(new SandboxFailure('The command took too long.'))
      const cancel = clock.after(bounds.timeoutMs + OWN_GRACE_MS, stop)
      signal.addEventListener('abort', stop, { once: true })
      try {
        const did = await server.execute(place, { command, cwd: WORK, uid: NOBODY, gid: NOBODY }, bounds, ending.signal)
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

const WORK = '/work'
const NOBODY = 65_534
const OWN_GRACE_MS = 10_000
const READY_MS = 60_000
const INTERRUPT_MS = 5000
const LONGEST_TIMER_MS = 2_000_000_000
