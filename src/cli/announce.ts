/** Announces on standard output that the service is ready. */
import { writeSync } from 'node:fs'

import { wantsColours, type Environment } from '../config.ts'
import { greeting, type FirstKeys } from './greeting.ts'

const STDOUT = 1

/** Calls `onUnread` if nobody can read the output: a pipe without a reader, or a closed terminal. The service continues. */
export const announce = async (url: string, keys: FirstKeys | null, env: Environment, onUnread: () => Promise<void>): Promise<void> => {
  let rest = Buffer.from(greeting(url, keys, { terminal: process.stdout.isTTY, styled: wantsColours(env) }))
  try {
    while (rest.byteLength > 0) rest = rest.subarray(writeSync(STDOUT, rest))
  } catch {
    await onUnread()
  }
}
