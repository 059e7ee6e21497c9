/** The code in a thread of a SQLite database: it answers one request after the other; sqlite-thread.ts asks. */
import type { Answer } from './sqlite-thread.ts'
import { encodeFailure } from './thread-failures.ts'

/** The types of the main thread say nothing of a thread's own scope. */
declare const self: Worker & { close(): void }

const NOTHING_TRANSFERRED: Bun.Transferable[] = []

/** After the last request the thread ends. */
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
