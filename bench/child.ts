/** Child processes, which are started with a clean environment, awaited by what they print, and never left running. */
import type { FileSink } from 'bun'

export interface ChildOptions {
  readonly command: readonly string[]
  /** The file that stderr goes to; by default this process's own stderr. */
  readonly errorsTo?: string
  /** Added to PATH and HOME, which are all that a child inherits of our environment: no proxies, no keys, no PATCHBAY_ settings. */
  readonly environment?: Readonly<Record<string, string>>
}

export interface Child {
  readonly pid: number
  /** Everything printed so far. */
  readonly lines: readonly string[]
  /** The first line, past or future, that matches the pattern. Throws if the process ends first or `timeoutMs` have passed. */
  waitForLine(pattern: RegExp, timeoutMs: number): Promise<string>
  writeLine(line: string): void
  /** Sends SIGTERM, then SIGKILL after five seconds. Returns the exit code. */
  stop(): Promise<number>
}

const STOP_MS = 5000
const running = new Set<Child>()

export const startChild = ({ command, errorsTo, environment }: ChildOptions): Child => {
  const subprocess = Bun.spawn([...command], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: errorsTo === undefined ? 'inherit' : Bun.file(errorsTo),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
  })
  const stdin: FileSink = subprocess.stdin
  const lines: string[] = []
  const watchers = new Set<() => void>()
  let ended = false
  const readLines = async (): Promise<void> => {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const piece of subprocess.stdout) {
      const parts = (rest + decoder.decode(piece, { stream: true })).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
      for (const watcher of watchers) watcher()
    }
    ended = true
    for (const watcher of watchers) watcher()
  }
  void readLines()

  const child: Child = {
    pid: subprocess.pid,
    lines,
    waitForLine(pattern, timeoutMs) {
      return new Promise((resolve, reject) => {
        const finish = (act: () => void): void => {
          clearTimeout(timer)
          watchers.delete(look)
          act()
        }
        const fail = (reason: string): void => finish(() => reject(new Error(`${command.slice(0, 2).join(' ')} ${reason}`)))
        const look = (): void => {
          const found = lines.find((line) => pattern.test(line))
          if (found !== undefined) finish(() => resolve(found))
          else if (ended) fail('ended before it was ready.')
        }
        const timer = setTimeout(() => fail(`printed nothing like ${String(pattern)} within ${timeoutMs} ms.`), timeoutMs)
        watchers.add(look)
        look()
      })
    },
    writeLine(line) {
      void stdin.write(`${line}\n`)
      void stdin.flush()
    },
    async stop() {
      subprocess.kill('SIGTERM')
      const timer = setTimeout(() => subprocess.kill('SIGKILL'), STOP_MS)
      const code = await subprocess.exited
      clearTimeout(timer)
      running.delete(child)
      return code
    },
  }
  running.add(child)
  return child
}

export const stopAllChildren = async (): Promise<void> => {
  await Promise.all([...running].map((child) => child.stop()))
}

/** Ends this helper when the pipe from its parent closes, so that even a killed parent leaves nothing running. */
export const exitWithParent = (): void => {
  const watch = async (): Promise<void> => {
    for await (const _ of Bun.stdin.stream()) continue
    process.exit(0)
  }
  void watch()
}
