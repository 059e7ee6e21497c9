import { GatewayError } from '../errors.ts'

/** The type of the error that `act` throws and the path that its first issue names. */
export const firstFault = (act: () => unknown): [string, unknown] => {
  try {
    act()
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    const issues = thrown.metadata['issues'] as readonly { path: string }[]
    return [thrown.type, issues[0]?.path]
  }
  throw new Error('It was accepted.')
}
