/**
 * A place outside of the gateway's own machine in which commands of models run, one container for a session or a request
 * (decisions/0073). Each kind of place is one file beside this one.
 */
export interface Sandbox {
  /** Throws a SandboxFailure, or the signal's reason. */
  run(container: Container, command: string, bounds: CommandBounds, signal: AbortSignal): Promise<CommandResult>
  /** Ends a container, with what runs in it. Never rejects. */
  end(name: string): Promise<void>
}

export interface Container {
  /** Made of the workspace and of what the client knows it by, so that no client reaches that of another workspace. */
  readonly name: string
  /** Says whether it is made where it is not there. */
  readonly isMade: boolean
  /** After so long without a command it is gone. */
  readonly idleSeconds: number
}

export interface CommandBounds {
  readonly timeoutMs: number
  /** How much is kept of each of the two outputs. */
  readonly outputBytes: number
}

export interface CommandResult {
  readonly stdout: string
  readonly stderr: string
  /** Null where it was ended because its time was over. */
  readonly exitCode: number | null
}

/** The message is for the model and the client. */
export class SandboxFailure extends Error {
  override readonly name = 'SandboxFailure'
}

export const noSuchContainer = (): SandboxFailure => new SandboxFailure('There is no container of this id.')
