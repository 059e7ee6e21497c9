/** Runs the commands of one call in sequence, each within its time limit and its output limit. */
import { nanosOf } from '../../lib/money.ts'
import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { failed, type ToolResult, type ToolTurn } from '../tool.ts'
import { type AskedContainer, type ContainerOf, createContainerOf } from './asked-container.ts'
import { createDockerSandbox } from './docker-sandbox.ts'
import { createHttpSandbox } from './http-sandbox.ts'
import { createOpenSandbox } from './open-sandbox.ts'
import { type CommandBounds, type CommandResult, type Sandbox, SandboxFailure } from './sandbox.ts'
import type { ShellSettings } from './settings.ts'

export interface CommandRunner {
  readonly containerOf: ContainerOf
  /** The maximum cost of a call, in nano-dollars. */
  readonly mostFeeNanos: number
  /** `toValue` converts the commands' results to the tool's result. */
  run(
    call: ContainerCall,
    commands: readonly string[],
    bounds: CommandBounds,
    toValue: (results: readonly CommandResult[]) => JsonObject,
  ): Promise<ToolResult>
  end(container: AskedContainer): Promise<void>
}

/** The container of one call of a tool. */
export interface ContainerCall {
  readonly container: AskedContainer
  readonly turn: Pick<ToolTurn, 'signal' | 'atEnd' | 'ifStopped'>
}

/** Returns null if no sandbox is configured. */
export const createCommandRunner = (settings: ShellSettings | undefined, clock: Clock, ids: IdSource): CommandRunner | null => {
  if (settings === undefined) return null
  const sandbox = sandboxOf(settings, clock)
  const feeOf = (minutes: number): number => nanosOf(settings.price_per_minute * minutes)
  return {
    containerOf: createContainerOf(ids),
    mostFeeNanos: feeOf((COMMANDS_MAX * TIMEOUT_MAX_MS) / 60_000),
    async run({ container, turn: { signal, atEnd, ifStopped } }, commands, bounds, toValue) {
      if (container.isForRequest) atEnd(() => sandbox.end(container.name))
      const results: CommandResult[] = []
      const startedMs = clock.monotonicMs()
      let endedMs = startedMs
      ifStopped(() => feeOf((clock.monotonicMs() - startedMs) / 60_000))
      try {
        for (const command of commands) {
          const isLate = results.some(({ exitCode }) => exitCode === null)
          results.push(isLate ? NOT_RUN : await sandbox.run(container, command, bounds, signal))
          endedMs = clock.monotonicMs()
        }
      } catch (thrown) {
        if (!(thrown instanceof SandboxFailure)) throw thrown
        // The commands before it have run and are charged.
        return { ...failed('unavailable', thrown.message), feeNanos: feeOf((endedMs - startedMs) / 60_000) }
      }
      return {
        fault: null,
        value: { ...toValue(results), container_id: container.id },
        feeNanos: feeOf((endedMs - startedMs) / 60_000),
      }
    },
    end: ({ name }) => sandbox.end(name),
  }
}

const sandboxOf = (settings: ShellSettings, clock: Clock): Sandbox => {
  switch (settings.kind) {
    case 'docker':
      return createDockerSandbox(settings, clock)
    case 'http':
      return createHttpSandbox(settings, clock)
    case 'opensandbox':
      return createOpenSandbox(settings, clock)
  }
}

export const COMMANDS_MAX = 20
const TIMEOUT_MAX_MS = 300_000
const TIMEOUT_MS = 60_000
const OUTPUT_MAX_BYTES = 65_536

/** The limits that a model asked for, capped at the maximum. */
export const boundsOf = ({
  timeout_ms,
  max_output_length,
}: {
  timeout_ms?: number | null | undefined
  max_output_length?: number | null | undefined
}): CommandBounds => ({
  timeoutMs: Math.min(timeout_ms ?? TIMEOUT_MS, TIMEOUT_MAX_MS),
  outputBytes: Math.min(max_output_length ?? OUTPUT_MAX_BYTES, OUTPUT_MAX_BYTES),
})

const NOT_RUN: CommandResult = { stdout: '', stderr: 'Not run: the command before it took too long.', exitCode: null }
