/** The error with which the promise was rejected; fails if it was not. (The types of bun:test call `expect().rejects` not awaitable.) */
export const rejection = async (promise: Promise<unknown>): Promise<unknown> => {
  const outcome = await promise.then(
    () => ({ rejected: false as const }),
    (error: unknown) => ({ rejected: true as const, error }),
  )
  if (!outcome.rejected) throw new Error('The promise was resolved.')
  return outcome.error
}

/** The message with which the promise was rejected. */
export const rejectionText = async (promise: Promise<unknown>): Promise<string> => {
  const error = await rejection(promise)
  return error instanceof Error ? error.message : String(error)
}
