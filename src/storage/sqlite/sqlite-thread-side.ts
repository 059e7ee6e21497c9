/** The code inside a SQLite thread: it answers one request after the other. sqlite-thread.ts is the other side. */
import type { Answer } from './sqlite-thread.ts'
import { encodeFailure } from './thread-failures.ts'

/** The main thread's types do not describe a worker's own scope. */
declare const self: Worker & { close(): void }

const NOTHING_TRANSFERRED: Bun.Transferable[] = []

/** The thread ends after the last request. */
export const answerRequests = <Request>(handle: (request: Request) => Promise<unknown>, isLast: (request: Request) => boolean): void => {
  let last: Promise<void> = Promise.resolve()
  const answer = async (request: Request): Promise<void> => {
    let reported: Answer<unknown>
    try {
      reported = { result: await handle(request) }
    } catch (thrown) {
      reported = { failure: encodeFailure(thrown) }
    }
    self.postMessage(reported, NOTHING_TRANSFERRED)
    if (isLast(request)) self.close()
  }
  self.addEventListener('message', ({ data }: MessageEvent<Request>) => {
    last = last.then(() => answer(data))
  })
}
