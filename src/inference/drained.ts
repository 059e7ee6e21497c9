/** Some providers bill a whole answer though its client has left. For those its usage is worth waiting for. */
import type { Frame } from '../canonical/event.ts'
import { asGatewayError } from '../errors.ts'
import type { Run } from './run.ts'

/**
 * The same frames. Where the reader stops early because its client left, and the provider is one that `drains`, the rest is
 * observed and given to nobody; `Run.leave` ends that after a while.
 */
export async function* drained(
  run: Run,
  source: AsyncGenerator<readonly Frame[], void, undefined>,
): AsyncGenerator<readonly Frame[], void, undefined> {
  let over = false
  try {
    for (;;) {
      const next = await source.next().catch((thrown: unknown) => {
        over = true
        throw thrown
      })
      if (next.done === true) {
        over = true
        return
      }
      yield next.value
    }
  } finally {
    if (!over && run.drains) await readOn(run, source)
    if (!over) await source.return()
  }
}

/** A failure is the end too: what was told until then counts. */
const readOn = async (run: Run, source: AsyncGenerator<readonly Frame[], void, undefined>): Promise<void> => {
  try {
    for (;;) {
      const next = await source.next()
      if (next.done === true) return
      run.observe(next.value)
    }
  } catch (thrown) {
    run.fail(asGatewayError(thrown))
  }
}
