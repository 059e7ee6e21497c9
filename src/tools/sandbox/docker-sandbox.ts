/**
 * Containers of Docker or Podman, by the Engine API on its socket. A container has no network, nothing of the host, no
 * variables and no rights; all that can be written is in memory. Its one process of ours is a sleep, so a container that
 * nobody ends any more, because the gateway died, ends by itself.
 */
import { z } from 'zod'

import type { Clock } from '../../lib/clock.ts'
import type { JsonObject } from '../../lib/json.ts'
import { askEngine, type EngineAnswer, readAll } from './engine-api.ts'
import { readOutputs } from './exec-output.ts'
import { type CommandBounds, type CommandResult, type Container, noSuchContainer, type Sandbox, SandboxFailure } from './sandbox.ts'
import type { DockerSettings } from './settings.ts'

export const createDockerSandbox = ({ socket, image, runtime }: DockerSettings, clock: Clock): Sandbox => {
  /** The timers that end each container once it is idle, by its name. */
  const idle = new Map<string, () => void>()
  const ask = (method: string, path: string, body: JsonObject | null, signal?: AbortSignal): Promise<EngineAnswer> =>
    askEngine(socket, { method, path, body, ...(signal === undefined ? {} : { signal }) })

  const made = async ({ name, isMade, idleSeconds }: Container, signal: AbortSignal): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      if (isMade) {
        const { status, said } = await told(
          await ask('POST', `/containers/create?name=${name}`, specOf(image, runtime, idleSeconds), signal),
        )
        // One of this name is there already, from an earlier command.
        if (status !== 201 && status !== 409) throw new SandboxFailure(`The sandbox cannot be made (${status}): ${said}`)
      }
      const { status, said } = await told(await ask('POST', `/containers/${name}/start`, null, signal))
      if (status === 204 || status === 304) return
      if (!isMade && status === 404) throw noSuchContainer()
      // An earlier one of the name is being removed.
      if (tries === STARTS_MAX) throw new SandboxFailure(`The sandbox does not start (${status}): ${said}`)
      await pause(clock, START_PAUSE_MS)
      signal.throwIfAborted()
    }
  }

  const end = async (name: string): Promise<void> => {
    idle.get(name)?.()
    idle.delete(name)
    try {
      await told(await ask('DELETE', `/containers/${name}?force=true&v=true`, null))
    } catch (thrown) {
      if (!(thrown instanceof SandboxFailure)) throw thrown // it ends by its own clock
    }
  }

  const execute = async (
    name: string,
    command: string,
    { timeoutMs, outputBytes }: CommandBounds,
    signal: AbortSignal,
  ): Promise<CommandResult> => {
    const spec = { AttachStdout: true, AttachStderr: true, Tty: false, WorkingDir: WORK, Cmd: ['/bin/sh', '-c', command] }
    const begun = await told(await ask('POST', `/containers/${name}/exec`, spec, signal))
    if (begun.status !== 201) throw new SandboxFailure(`The sandbox takes no command (${begun.status}): ${begun.said}`)
    const { Id: id } = read(begunExec, begun.text)
    signal.throwIfAborted()
    const ending = new AbortController()
    const stop = (): void => ending.abort()
    const cancel = clock.after(timeoutMs, stop)
    signal.addEventListener('abort', stop, { once: true })
    const over = ending.signal
    try {
      const answer = await ask('POST', `/exec/${id}/start`, { Detach: false, Tty: false }, over)
      if (answer.status !== 200) throw new SandboxFailure(`The sandbox runs no command (${answer.status}).`)
      const outputs = await readOutputs(answer.stream, outputBytes, over)
      if (outputs.isCut) {
        // Nothing but the end of its container ends a command for certain.
        await end(name)
        signal.throwIfAborted()
        return { ...outputs, exitCode: null }
      }
      const ended = await told(await ask('GET', `/exec/${id}/json`, null, signal))
      return { ...outputs, exitCode: read(endedExec, ended.text).ExitCode ?? 0 }
    } catch (thrown) {
      if (!over.aborted) throw thrown
      await end(name)
      signal.throwIfAborted()
      return { stdout: '', stderr: '', exitCode: null }
    } finally {
      cancel()
      signal.removeEventListener('abort', stop)
    }
  }

  return {
    async run(container, command, bounds, signal) {
      const { name, idleSeconds } = container
      idle.get(name)?.()
      try {
        await made(container, signal)
        return await execute(name, command, bounds, signal)
      } finally {
        idle.get(name)?.()
        idle.set(
          name,
          clock.after(Math.min(idleSeconds, LONGEST_TIMER_SECONDS) * 1000, () => void end(name)),
        )
      }
    },
    end,
  }
}

const WORK = '/work'
const STARTS_MAX = 20
const START_PAUSE_MS = 250
/** The longest that a timer can wait. */
const LONGEST_TIMER_SECONDS = 2_000_000
/** A container that is used now and then lives so long at most. */
const LIFE_SECONDS = 24 * 3600
const MEBIBYTE = 1024 * 1024

/** Docs: https://docs.docker.com/reference/api/engine/ (ContainerCreate). */
const specOf = (image: string, runtime: string | undefined, idleSeconds: number): JsonObject => ({
  Image: image,
  Entrypoint: [],
  Cmd: ['sleep', String(Math.max(LIFE_SECONDS, idleSeconds))],
  Env: [],
  User: '65534:65534',
  WorkingDir: WORK,
  NetworkDisabled: true,
  Labels: { 'patchbay.sandbox': 'true' },
  HostConfig: {
    AutoRemove: true,
    NetworkMode: 'none',
    ReadonlyRootfs: true,
    Tmpfs: { [WORK]: `rw,nosuid,nodev,mode=1777,size=${256 * MEBIBYTE}`, '/tmp': `rw,nosuid,nodev,mode=1777,size=${64 * MEBIBYTE}` },
    Binds: [],
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    Privileged: false,
    PidsLimit: 128,
    Memory: 512 * MEBIBYTE,
    MemorySwap: 512 * MEBIBYTE,
    NanoCpus: 1_000_000_000,
    Init: true,
    ...(runtime === undefined ? {} : { Runtime: runtime }),
  },
})

const begunExec = z.looseObject({ Id: z.string().regex(/^[0-9a-f]{12,128}$/) })
const endedExec = z.looseObject({ ExitCode: z.int().nullish() })
const refusal = z.looseObject({ message: z.string() })

const read = <Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> => {
  const found = schema.safeParse(parsed(text))
  if (!found.success) throw new SandboxFailure('The sandbox gave an answer that cannot be read.')
  return found.data
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null // said by the caller
  }
}

interface Told {
  readonly status: number
  readonly text: string
  /** The words of its refusal. */
  readonly said: string
}

const told = async ({ status, stream }: EngineAnswer): Promise<Told> => {
  const text = await readAll(stream)
  const found = refusal.safeParse(parsed(text))
  return { status, text, said: found.success ? found.data.message.slice(0, 200) : '' }
}

const pause = (clock: Clock, ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve))
