import { UnsafeRequest } from './safe-fetch.ts'

/** The message with which the request was refused; `not refused` if it was not. */
export const refusal = async (asked: Promise<unknown>): Promise<string> => {
  try {
    await asked
  } catch (thrown) {
    if (thrown instanceof UnsafeRequest) return thrown.message
    throw thrown
  }
  return 'not refused'
}
