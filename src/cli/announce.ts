/** Announces on standard output that the service is ready. */
import { wantsColours, type Environment } from '../config.ts'
import { greeting, type FirstKeys } from './greeting.ts'
import { printWhole } from './print.ts'

/** Calls `onUnread` if nobody can read the output: a pipe without a reader, or a closed terminal. The service continues. */
export const announce = async (url: string, keys: FirstKeys | null, env: Environment, onUnread: () => Promise<void>): Promise<void> => {
  try {
    printWhole(greeting(url, keys, { terminal: process.stdout.isTTY, styled: wantsColours(env) }))
  } catch {
    await onUnread()
  }
}
