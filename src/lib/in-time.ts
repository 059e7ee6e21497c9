import type { Clock } from './clock.ts'

/** Rejects if `answer` does not settle within this time. */
export const inTime = async <Value>(answer: Promise<Value>, withinMs: number, clock: Pick<Clock, 'after'>): Promise<Value> => {
  const late = Promise.withResolvers<never>()
  // If the answer came while this process was busy, it is read before it counts as late.
  let cancel = clock.after(withinMs, () => {
    cancel = clock.after(1, () => late.reject(new Error(`It did not answer within ${withinMs} ms.`)))
  })
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    cancel()
  }
}
