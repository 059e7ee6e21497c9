/**
 * An environment outside the gateway's own machine in which commands of models run, with one container per session or request
 * (decisions/0073). Each kind has its own file in this folder.
 */
export interface Sandbox {
  /** Throws a SandboxFailure, or the signal's reason. */
  run(container: Container, command: string, bounds: CommandBounds, signal: AbortSignal): Promise<CommandResult>
  /** Ends a container and everything that runs in it. Never rejects. */
  end(name: string): Promise<void>
}

export interface Container {
  /** Derived from the workspace and the client's id of the container, so that no client reaches a container of another workspace. */
  readonly name: string
  /** The container is created if it does not exist. */
  readonly isMade: boolean
  /** The time without a command, in seconds, after which the container is removed. */
  readonly idleSeconds: number
}

export interface CommandBounds {
  readonly timeoutMs: number
  /** Bytes kept of each of the two outputs. */
  readonly outputBytes: number
}

export interface CommandResult {
  readonly stdout: string
  readonly stderr: string
  /** Null if the command was ended by its time limit. */
  readonly exitCode: number | null
}

/** An error whose message is shown to the model and the client. */
export class SandboxFailure extends Error {
  override readonly name = 'SandboxFailure'
}

export const noSuchContainer = (): SandboxFailure => new SandboxFailure('There is no container of this id.')
