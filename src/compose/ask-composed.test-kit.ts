import { type FakeClock, turn } from '../../test/support/fake-clock.ts'
import type { Service } from './service.ts'

/** Sends a request to a service whose clock stands still, and lets the work go on that waits for its turn by the clock. */
export const askComposed = async (
  { app }: Pick<Service, 'app'>,
  clock: FakeClock,
  { key, method, path, body }: { readonly key: string; readonly method: string; readonly path: string; readonly body?: object | undefined },
): Promise<Response> => {
  const answering = app.answer(
    new Request(`http://host/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  let isAnswered = false
  const answered = answering.finally(() => (isAnswered = true))
  while (!isAnswered) {
    await turn()
    clock.advance(0)
  }
  return answered
}
