/**
 * Runs commands in containers of Docker or Podman, through the Engine API on its socket. A container has no network, nothing of
 * the host, no variables and no privileges; everything writable is in memory. Its first process ends it once nothing else runs
 * there, so that it ends even without the gateway.
 */
import { z } from 'zod'

import { cutText } from '../../lib/text/cut-text.ts'
import { type Clock, pause } from '../../lib/clock.ts'
import { jsonIn, type JsonObject } from '../../lib/json/json.ts'
import { askEngine, type EngineAnswer, readAll } from './engine-api.ts'
import { readOutputs } from './exec-output.ts'
import { paced } from './paced.ts'
import { createSweep, SANDBOX_LABEL } from './sweep-containers.ts'
import { type CommandBounds, type CommandResult, type Container, noSuchContainer, type Sandbox, SandboxFailure } from './sandbox.ts'
import type { DockerSettings } from './settings.ts'

export const createDockerSandbox = ({ socket, image, runtime }: DockerSettings, clock: Clock): Sandbox => {
  /** Cancels the timers that end idle containers, by container name. */
  const idle = new Map<string, () => void>()
  const ask = (method: string, path: string, body: JsonObject | null, signal?: AbortSignal): Promise<EngineAnswer> =>
    askEngine(socket, { method, path, body, ...(signal === undefined ? {} : { signal }) })
  const sweep = createSweep(socket, clock)

  const made = async ({ name, isMade, idleSeconds }: Container, signal: AbortSignal): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      let refused: Reported | null = null
      if (isMade) {
        const answer = await reported(await ask('POST', `/containers/create?name=${name}`, specOf(image, runtime, idleSeconds), signal))
        // A container of this name already exists from an earlier command. Docker reports that with 409, Podman 4 with 500; starting it
        // shows whether it is usable.
        if (answer.status !== 201 && answer.status !== 409) refused = answer
      }
      const { status, said } = await reported(await ask('POST', `/containers/${name}/start`, null, signal))
      if (status === 204 || status === 304) return
      if (refused !== null && status === 404) {
        throw new SandboxFailure(`The sandbox cannot be made (${refused.status}): ${refused.said}`)
      }
      if (!isMade && status === 404) throw noSuchContainer()
      // An earlier container of that name is being removed.
      if (tries === STARTS_MAX) throw new SandboxFailure(`The sandbox does not start (${status}): ${said}`)
      await pause(clock, START_PAUSE_MS)
      signal.throwIfAborted()
    }
  }

  const end = async (name: string): Promise<void> => {
    idle.get(name)?.()
    idle.delete(name)
    try {
      await reported(await ask('DELETE', `/containers/${name}?force=true&v=true`, null))
    } catch (thrown) {
      if (!(thrown instanceof SandboxFailure)) throw thrown // it ends by its own clock
    }
  }

  /** Prepares a command and returns its id, with which it can be started. */
  const prepare = async (name: string, command: string, signal: AbortSignal): Promise<string> => {
    const spec = { AttachStdout: true, AttachStderr: true, Tty: false, WorkingDir: WORK, Cmd: ['/bin/sh', '-c', command] }
    const { status, said, text } = await reported(await ask('POST', `/containers/${name}/exec`, spec, signal))
    if (status !== 201) throw new SandboxFailure(`The sandbox takes no command (${status}): ${said}`)
    signal.throwIfAborted()
    return read(begunExec, text).Id
  }

  const exitCodeOf = async (id: string, signal: AbortSignal): Promise<number> => {
    const ended = await reported(await ask('GET', `/exec/${id}/json`, null, signal))
    return read(endedExec, ended.text).ExitCode ?? 0
  }

  /** Ends all processes in a container and keeps its files; if that fails, the container is ended. Never rejects. */
  const endCommands = async (name: string): Promise<void> => {
    const late = new AbortController()
    const cancel = clock.after(KILL_MS, () => late.abort())
    try {
      const id = await prepare(name, KILL_ALL, late.signal)
      const { stream } = await ask('POST', `/exec/${id}/start`, { Detach: false, Tty: false }, late.signal)
      await readAll(stream)
      if ((await exitCodeOf(id, late.signal)) !== 0) await end(name)
    } catch {
      await end(name) // the only way left
    } finally {
      cancel()
    }
  }

  const execute = async (
    name: string,
    command: string,
    { timeoutMs, outputBytes }: CommandBounds,
    signal: AbortSignal,
  ): Promise<CommandResult> => {
    const id = await prepare(name, command, signal)
    const ending = new AbortController()
    const stop = (): void => ending.abort()
    const cancel = clock.after(timeoutMs, stop)
    signal.addEventListener('abort', stop, { once: true })
    const over = ending.signal
    try {
      const answer = await ask('POST', `/exec/${id}/start`, { Detach: false, Tty: false }, over)
      if (answer.status !== 200) throw new SandboxFailure(`The sandbox runs no command (${answer.status}).`)
      const outputs = await readOutputs(paced(answer.stream, clock), outputBytes, over)
      if (outputs.isCut) {
        await endCommands(name)
        signal.throwIfAborted()
        return { ...outputs, exitCode: null }
      }
      return { ...outputs, exitCode: await exitCodeOf(id, signal) }
    } catch (thrown) {
      if (!over.aborted) throw thrown
      await endCommands(name)
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
      void sweep()
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
/** The maximum that a timer can wait. */
const LONGEST_TIMER_SECONDS = 2_000_000
/** The maximum lifetime of a container that is used now and then. */
const LIFE_SECONDS = 24 * 3600
const MEBIBYTE = 1024 * 1024

/** The time limit for ending all commands. */
const KILL_MS = 5000
/** The kernel spares the process that calls this, and the first process of the container. */
const KILL_ALL = 'kill -9 -1'

/**
 * The first process of a container, which ends it: once nothing else has run for `$1` seconds, or after `$2`. Between two rounds
 * it starts only one process, the sleep; any other process shows in the process number of the next one, or is still running. If
 * the kernel does not count processes per container, as with gVisor, only `$2` ends it.
 */
const WATCH = `idle=0 life=0 last=0
while [ $idle -lt $1 ] && [ $life -lt $2 ]; do
  sleep 5
  idle=$((idle + 5)) life=$((life + 5)) before=$last
  read -r _ _ _ _ last < /proc/loadavg
  set -- "$1" "$2" /proc/[0-9]*
  if [ $# -gt 3 ] || [ $last -ne $((before + 1)) ]; then idle=0; fi
done`

/** Docs: https://docs.docker.com/reference/api/engine/ (ContainerCreate). */
const specOf = (image: string, runtime: string | undefined, idleSeconds: number): JsonObject => ({
  Image: image,
  Entrypoint: [],
  Cmd: ['/bin/sh', '-c', WATCH, 'watch', String(idleSeconds), String(Math.max(LIFE_SECONDS, idleSeconds))],
  Env: [],
  User: '65534:65534',
  // Docker creates the working directory as root, and the mount would then have root's rights.
  WorkingDir: '/',
  NetworkDisabled: true,
  Labels: { [SANDBOX_LABEL]: 'true' },
  HostConfig: {
    AutoRemove: true,
    NetworkMode: 'none',
    ReadonlyRootfs: true,
    Tmpfs: { [WORK]: `rw,exec,nosuid,nodev,mode=1777,size=${256 * MEBIBYTE}`, '/tmp': `rw,nosuid,nodev,mode=1777,size=${64 * MEBIBYTE}` },
    Binds: [],
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    Privileged: false,
    PidsLimit: 128,
    Memory: 512 * MEBIBYTE,
    MemorySwap: 512 * MEBIBYTE,
    NanoCpus: 1_000_000_000,
    ...(runtime === undefined ? {} : { Runtime: runtime }),
  },
})

const begunExec = z.looseObject({ Id: z.string().regex(/^[0-9a-f]{12,128}$/) })
const endedExec = z.looseObject({ ExitCode: z.int().nullish() })
const refusal = z.looseObject({ message: z.string() })

const read = <Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> => {
  const found = schema.safeParse(jsonIn(text))
  if (!found.success) throw new SandboxFailure('The sandbox gave an answer that cannot be read.')
  return found.data
}

interface Reported {
  readonly status: number
  readonly text: string
  /** The message of a refusal. */
  readonly said: string
}

const reported = async ({ status, stream }: EngineAnswer): Promise<Reported> => {
  const text = await readAll(stream)
  const found = refusal.safeParse(jsonIn(text))
  return { status, text, said: found.success ? cutText(found.data.message, 200) : '' }
}
