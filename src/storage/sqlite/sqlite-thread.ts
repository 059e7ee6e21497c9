/** A SQLite thread as seen from outside, by the code that sends it requests. sqlite-thread-side.ts is the other side. */
import { entryPoint, type EntryPoint } from '../../lib/entry-points.ts'
import { lackOfFiles } from '../../lib/spare-files.ts'
import { StorageUnavailable } from '../storage-errors.ts'
import { decodeFailure, type EncodedFailure } from './thread-failures.ts'

export interface Thread<Request, Result> {
  /** Starts the thread if it is not running. */
  ask(request: Request): Promise<Result>
  runs(): boolean
}

/** The answer to a request; answers come in the order of the requests. */
export type Answer<Result> = { readonly result: Result } | { readonly failure: EncodedFailure }

interface Asker<Result> {
  readonly resolve: (result: Result) => void
  readonly reject: (reason: unknown) => void
}

/** The runtime ends the whole process if it has no file left with which to start a thread. */
const FILES_OF_A_START = 16

const NOTHING_TRANSFERRED: Bun.Transferable[] = []

/**
 * The thread starts with the first request, so that a service that sends none needs neither its time nor its memory; it starts
 * again after it has ended. `opening` is sent first each time.
 */
export const createThread = <Request, Result>(file: EntryPoint, opening: Request): Thread<Request, Result> => {
  let worker: Worker | null = null
  /** Answers come in the order of the requests. */
  let askers: Asker<Result>[] = []

  const send = (to: Worker, request: Request): Promise<Result> =>
    new Promise((resolve, reject) => {
      askers.push({ resolve, reject })
      to.postMessage(request, NOTHING_TRANSFERRED)
    })

  const start = (): Worker => {
    const lack = lackOfFiles(FILES_OF_A_START)
    if (lack !== null) throw new StorageUnavailable('No file descriptor is left for the thread of the database.', { cause: lack })
    const started = new Worker(entryPoint(file))
    const lost = (cause: unknown): void => {
      if (worker !== started) return
      worker = null
      const failure = new StorageUnavailable('The thread of the database has ended.', { cause })
      for (const { reject } of askers.splice(0)) reject(failure)
    }
    started.addEventListener('message', ({ data }: MessageEvent<Answer<Result>>) => {
      const asker = askers.shift()
      if ('failure' in data) asker?.reject(decodeFailure(data.failure))
      else asker?.resolve(data.result)
    })
    started.addEventListener('error', ({ message }) => lost(message))
    started.addEventListener('close', () => lost(null))
    worker = started
    send(started, opening).catch((cause: unknown) => {
      // The next request starts another thread; requests that wait for this one fail, because it is not open.
      if (worker === started) worker = null
      started.terminate()
      for (const { reject } of askers.splice(0)) reject(cause)
    })
    return started
  }

  return {
    ask: async (request) => send(worker ?? start(), request),
    runs: () => worker !== null,
  }
}
